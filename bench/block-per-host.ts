import type { Daemon } from '../lab/daemon.ts'
import { startBareNginx } from './bare-nginx.ts'
import { BENCH_PLACE } from './place.ts'

export const BLOCKS = { address: `${BENCH_PLACE.network}.81`, port: 8443 }
const HTTP_PORT = 8080

/**
 * An nginx as an administrator would write it who gives every host two server blocks. The certificate stands in the default
 * server only: with one in every block, 10,000 hosts would take gigabytes.
 */
export const startBlockPerHost = (folder: string, ...blocks: Parameters<typeof blockPerHost>): Promise<Daemon> =>
  startBareNginx(folder, 'blocks', blockPerHost(...blocks))

/** What stands in its `http {}`. */
export function blockPerHost(
  hosts: readonly string[],
  target: string,
  certificate: { readonly certificate: string; readonly key: string },
): string {
  const secure = `${BLOCKS.address}:${BLOCKS.port}`
  const plain = `${BLOCKS.address}:${HTTP_PORT}`
  const base = `server_names_hash_max_size 65536;
server_names_hash_bucket_size 512;
server {
  listen ${secure} ssl default_server;
  ssl_certificate ${certificate.certificate};
  ssl_certificate_key ${certificate.key};
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_session_cache shared:bench:10m;
  ssl_session_tickets off;
  return 421;
}`
  const block = (host: string) => `
server { listen ${plain}; server_name ${host}; location / { return 308 https://${host}$request_uri; } }
server {
  listen ${secure};
  server_name ${host};
  location / {
    proxy_pass ${target};
    proxy_http_version 1.1;
    proxy_set_header Host ${host};
    proxy_set_header Connection "";
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Host ${host};
    proxy_set_header X-Forwarded-Proto https;
    proxy_set_header Forwarded "";
    proxy_set_header Proxy "";
  }
}`
  return `${base}${hosts.map(block).join('')}`
}
