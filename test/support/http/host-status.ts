import type { HostStatus, WatchedHost } from '../../../src/model/host-status.ts'
import { pending } from '../../../src/monitor/judge.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { samplePlan } from '../../contract/samples.ts'

/** A managed host with TLS that was never checked. */
export const sampleStatus = (given: Partial<HostStatus> = {}): HostStatus => ({ ...pending(WATCHED), ...given })

/** Stores the statuses of the checking instance, each managed host with its exposure. */
export async function putCheckedHosts(store: Store, statuses: readonly HostStatus[], version: number): Promise<void> {
  for (const { host, planId } of statuses) {
    if (planId === null || (await store.findExposure(host))) continue
    if (!(await store.findPlan(planId))) await store.insertPlan(samplePlan({ planId, host, state: 'applied' }))
    await store.insertExposure({ host, planId, state: 'applied', fence: 1, since: 0 })
  }
  await store.putHosts(statuses, version)
}

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
