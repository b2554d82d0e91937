import { type Backend, startBackend } from '../backends/backend.ts'
import { startZoneServer, type ZoneServer } from '../dns/zone-server.ts'
import { type Answer, expected } from './call.ts'
import { type ServiceOptions, startService, type TestService } from './service.ts'

/** A service, a real BIND and a healthy backend on server 25: everything that a plan needs to succeed. */
export interface Site {
  readonly api: TestService
  readonly dns: ZoneServer
  readonly backend: Backend
  /** The body of a plan that succeeds, with the changes of a test. */
  request(overrides?: Record<string, unknown>): Record<string, unknown>
  plan(overrides?: Record<string, unknown>, from?: string): Promise<Answer>
  /** The id of a new plan. */
  planId(): Promise<string>
  token(body: Record<string, unknown>, from?: string): Promise<Answer>
  /** A new capability for the internal caller. */
  capability(planId: string, action?: 'apply' | 'remove'): Promise<string>
  stop(): Promise<void>
}

export const healthy = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'

interface SiteOptions extends ServiceOptions {
  /** A running DNS server to use. Its owner stops it. */
  readonly zoneServer?: ZoneServer
}

export async function startSite(options: SiteOptions = {}): Promise<Site> {
  const { zones = ['lab.test'] } = options
  const dns = options.zoneServer ?? (await startZoneServer(zones.map((name) => ({ name, records: [] }))))
  const stopDns = async () => {
    if (dns !== options.zoneServer) await dns.stop()
  }
  const api = await startService({ dns, ...options }).catch(async (error: unknown) => {
    await stopDns()
    throw error
  })
  const backend = await startBackend((socket) => socket.end(healthy), `${api.network}.25`)
  const request: Site['request'] = (overrides = {}) => ({
    zone: 'lab.test',
    subdomain: 'hello',
    server: '25',
    port: backend.port,
    health: '/healthz',
    tls: false,
    ...overrides,
  })
  const plan: Site['plan'] = (overrides, from = 'inside') =>
    api.call({ path: '/api/deploy/plan', body: request(overrides), from })
  const token: Site['token'] = (body, from = 'inside') => api.call({ path: '/api/internal/token', body, from })
  return {
    api,
    dns,
    backend,
    request,
    plan,
    token,
    planId: async () => expected(await plan(), 201).planId,
    capability: async (planId, action = 'apply') => expected(await token({ planId, action }), 201).capability,
    async stop() {
      await api.stop()
      await backend[Symbol.asyncDispose]()
      await stopDns()
    },
  }
}
