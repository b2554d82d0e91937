import type { EdgeDescription } from './description.ts'

/**
 * The configuration of an edge before Drawbridge is installed: it serves nothing yet. `user`: the user of the workers when the
 * master is root. Relative paths are relative to the prefix of the edge.
 */
export function nginxConfig(edge: EdgeDescription, user: string | undefined): string {
  return `${user ? `user ${user};\n` : ''}worker_processes 1;
pid ${edge.pidFile};
error_log ${edge.errorLog} notice;
events { worker_connections 1024; }

http {
  access_log off;
  server_tokens off;
  client_body_temp_path temp/body;
  proxy_temp_path temp/proxy;
  fastcgi_temp_path temp/fastcgi;
  uwsgi_temp_path temp/uwsgi;
  scgi_temp_path temp/scgi;

  include drawbridge/*.conf;
}
`
}
