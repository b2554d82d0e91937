import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { type Clock, systemClock } from '../../../src/primitives/clock.ts'
import { startService } from '../../support/http/service.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

afterEach(() => vi.restoreAllMocks())

/** Where the clock of the machine is asked from now on. */
function askedOfMachine(): string[] {
  const asked: string[] = []
  const watch = <K extends keyof Clock>(name: K) => {
    const original = systemClock[name] as (...given: unknown[]) => unknown
    vi.spyOn(systemClock, name).mockImplementation(((...given: unknown[]) => {
      asked.push(`${name} ${new Error().stack?.split('\n').slice(2, 6).join('')}`)
      return original(...given)
    }) as never)
  }
  for (const name of Object.keys(systemClock)) watch(name as keyof Clock)
  return asked
}

test('every part of a service takes its time from the clock that the service is given', async () => {
  using folder = tempFolder()
  const at = (name: string) => join(folder.path, name)
  mkdirSync(at('edge'))
  writeFileSync(at('nginx.conf'), `events {} http { include ${at('edge')}/*.conf; server { server_name own.test; } }`)
  const asked = askedOfMachine()
  const clock = new VirtualClock()
  const edge = `{ config: ${at('nginx.conf')}, folder: ${at('edge')}, binary: /usr/bin/false, pidFile: ${at('no.pid')} }`
  const { service, call, stop } = await startService({
    clock,
    settings: `edges: { 23: ${edge} }\nresolver: "127.0.0.1:9"`,
  })
  try {
    const before = Date.parse((await call({ path: '/api/hosts' })).body.at)
    await service.housekeeping.begin()
    service.monitor.start()
    service.webhookSender.start()
    await clock.advance(10_000)
    const body = { zone: 'lab.test', subdomain: 'app', server: '25', port: 8001, health: '/healthz', tls: true }
    expect((await call({ method: 'POST', path: '/api/deploy/plan', body })).body.code).toBe('backend_unhealthy')
    expect((await call({ path: '/api/diagnose?host=own.test' })).status).toBe(200)
    expect((await call({ path: '/metrics' })).status).toBe(200)
    for (const duty of ['recover', 'takeUp', 'prepare', 'expire', 'converge', 'convergeIfAway', 'renew'] as const)
      await service.housekeeping[duty]()
    await service.housekeeping.checkLogLevels()
    expect(Date.parse((await call({ path: '/api/hosts' })).body.at) - before).toBe(10_000)
    await clock.advanceUntil(Promise.all([service.monitor.stop(), service.webhookSender.stop()]))
  } finally {
    await stop()
  }
  expect(asked).toEqual([])
})
