import type { HostStatus, WatchedHost } from '../../../src/model/host-status.ts'
import { pending } from '../../../src/monitor/judge.ts'

/** A managed host with TLS that was never checked. */
export const sampleStatus = (given: Partial<HostStatus> = {}): HostStatus => ({ ...pending(WATCHED), ...given })

const WATCHED: WatchedHost = {
  host: 'app.lab.test',
  configPath: '/etc/nginx/drawbridge/hosts/app.lab.test.conf',
  managed: true,
  tls: true,
  path: '/healthz',
  listenAddress: { address: '192.168.45.23', port: 443 },
  server: '25',
  address: '192.168.45.25',
  planId: 'plan_x',
  expiresAt: null,
}
