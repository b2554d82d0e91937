import type { EdgeDescription } from './description.ts'

/** `user`: what the workers run as when the master is root. Relative paths are under the edge's prefix. */
export function nginxConfig(edge: EdgeDescription, user: string | undefined): string {
  return `${user ? `user ${user};\n` : ''}worker_processes 1;
pid ${edge.pidFile};
error_log ${edge.errorLog} notice;
events { worker_connections 1024; }

http {
  access_log off;
  server_tokens off;
  server_names_hash_bucket_size 512;
  client_body_temp_path temp/body;
  proxy_temp_path temp/proxy;
  fastcgi_temp_path temp/fastcgi;
  uwsgi_temp_path temp/uwsgi;
  scgi_temp_path temp/scgi;

  # Names that nobody serves are refused.
  server {
    listen ${edge.address}:${edge.http} default_server;
    server_name _;
    default_type text/plain;
    return 404 "No such host on this edge.\\n";
  }
  server {
    listen ${edge.address}:${edge.https} ssl default_server;
    server_name _;
    ssl_reject_handshake on;
  }

  include hosts/*.conf;
}
`
}
