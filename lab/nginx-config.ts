import type { EdgeDescription } from './description.ts'

/**
 * As an administrator has it before Drawbridge comes: the service brings everything that is served. `user`: what the
 * workers run as when the master is root. Relative paths are under the edge's prefix.
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
