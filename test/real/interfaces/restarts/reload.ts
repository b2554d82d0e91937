import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import type { ServiceConfig } from '../../../../lab/service-config.ts'
import { applied, planned, planRequest, removed, run } from '../../../support/lab/exposure.ts'
import type { TestLab } from '../../../support/lab/lab.ts'
import { command } from '../../../support/programs/command.ts'
import { until } from '../../../support/until.ts'

/** The configuration is changed while the service runs, and put back after each test. */
export function reload(lab: () => TestLab): void {
  let file: string
  let first: string
  beforeAll(() => {
    file = join(lab().state, 'drawbridge.yaml')
    first = readFileSync(file, 'utf8')
  })
  afterEach(async () => {
    writeFileSync(file, first)
    await reloaded()
  })

  const reloaded = () => command(['reload', '--config', file])
  /** Writes the configuration with these changes. */
  const change = (changed: (config: ServiceConfig) => object) =>
    writeFileSync(file, stringify({ ...parse(first), ...changed(parse(first)) }))

  test('nothing has changed in the same file', async () => {
    expect(await reloaded()).toMatchObject({ stdout: 'Nothing has changed.\n' })
  })

  test('callers of a network that was taken out may no longer change anything', async () => {
    const { planId } = await planned(lab(), { subdomain: 'networks' })
    change(() => ({ internalNetworks: ['203.0.113.0/24'] }))
    expect((await reloaded()).stdout).toBe('In force now: internalNetworks.\n')
    const refused = await lab().call({ path: '/api/internal/token', body: { planId, action: 'apply' } })
    expect(refused).toMatchObject({ status: 403, body: { code: 'internal_network_required' } })
    const { body: policy } = await lab().call({ method: 'GET', path: '/api/policy' })
    expect(policy.internalNetworks).toEqual(['203.0.113.0/24'])
  })

  test('limits and ports hold from the next request on', async () => {
    change(() => ({ ports: { allowed: [81] }, plan: { ttlSeconds: 60 } }))
    expect((await reloaded()).stdout).toBe('In force now: plan, ports.\n')
    const refused = await lab().call({ path: '/api/deploy/plan', body: planRequest(lab(), { subdomain: 'ports' }) })
    expect(refused).toMatchObject({ status: 422, body: { code: 'port_not_allowed' } })
  })

  test('a zone comes and goes, and what is applied in the other stays', async () => {
    const { planId } = await applied(lab(), { subdomain: 'stays' })
    change(({ zones }) => ({ zones: { ...(zones as object), 'new.test': { primary: '127.0.0.1:9' } } }))
    expect((await reloaded()).stdout).toBe('In force now: zones.\n')
    const { body: policy } = await lab().call({ method: 'GET', path: '/api/policy' })
    expect(policy.zones).toEqual([lab().description.zone, 'new.test'])
    await removed(lab(), planId)
  })

  test('the key of a zone rolls over: two at once, then the next alone', { timeout: 60_000 }, async () => {
    const { zone } = lab().description
    const present = zoneOf(parse(first), zone)
    const nobody = join(lab().state, 'secrets', 'nobody')
    writeFileSync(nobody, 'bm9ib2R5', { mode: 0o600 })
    const withKeys = (keys: object) => change(() => ({ zones: { [zone]: { ...present, ...keys } } }))
    withKeys({ tsig: { name: 'nobody', secretFile: nobody }, nextTsig: present.tsig })
    await reloaded()
    const { planId } = await applied(lab(), { subdomain: 'rollover' })
    withKeys({ tsig: { name: 'nobody', secretFile: nobody } })
    await reloaded()
    expect((await run(lab(), planId, 'remove')).status).toBe(502)
    withKeys({ tsig: present.tsig })
    await reloaded()
    await removed(lab(), planId)
  })

  /** Runs the lines of a block. `edited` is done in place of the editor. */
  async function followBlock(lines: readonly string[] = [], edited: () => void, host = ''): Promise<void> {
    expect(lines[0]).toBe('editor /etc/drawbridge/drawbridge.yaml')
    edited()
    for (const line of lines.slice(1)) {
      const [program, ...words] = line.replace('--config FILE', `--config ${file}`).replace('HOST', host).split(' ')
      expect(program).toBe('drawbridge')
      const ended = await command(words, { environment: { DRAWBRIDGE_URL: lab().description.inside } })
      expect(ended, line).toMatchObject({ code: 0 })
    }
  }

  test('operations.md: Zone moved', { timeout: 60_000 }, async () => {
    const { planId, host } = await applied(lab(), { subdomain: 'moved' })
    change(({ zones }) => ({ zones: { ...(zones as object), [lab().description.zone]: { primary: '127.0.0.1:9' } } }))
    await reloaded()
    const away = await lab().call({ path: '/api/deploy/plan', body: planRequest(lab(), { subdomain: 'away' }) })
    expect(away.body.code).toBe('dns_unavailable')
    const [block] = blocksOf('Zone moved')
    await followBlock(block, () => writeFileSync(file, first), host)
    await removed(lab(), planId)
  })

  test('operations.md: Replace the key of a zone', { timeout: 60_000 }, async () => {
    const { zone } = lab().description
    const present = zoneOf(parse(first), zone)
    const old = join(lab().state, 'secrets', 'old')
    writeFileSync(old, 'b2xk', { mode: 0o600 })
    const write = (keys: object) => () => change(() => ({ zones: { [zone]: { ...present, ...keys } } }))
    const [both, next, ...others] = blocksOf('Replace the key of a zone')
    expect(others).toEqual([])
    // The DNS server of the lab knows only the new key from the beginning, which is the later half of the change.
    await followBlock(both, write({ tsig: { name: 'old', secretFile: old }, nextTsig: present.tsig }))
    const { planId } = await applied(lab(), { subdomain: 'replaced' })
    await followBlock(next, write({ tsig: present.tsig }))
    await removed(lab(), planId)
  })

  test('a broken file changes nothing, and says why by file, line and field', async () => {
    change(() => ({ internalNetworks: ['203.0.113.0/33'], zones: {} }))
    const line =
      readFileSync(file, 'utf8')
        .split('\n')
        .findIndex((text) => text.includes('203.0.113.0/33')) + 1
    const refused = await reloaded()
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain(`${file}:${line}: internalNetworks`)
    // The command reads the file first. This is what the service does with it.
    process.kill(lab().description.pids.service ?? 0, 'SIGHUP')
    await until('the service has refused it', () =>
      readFileSync(lab().description.log, 'utf8').includes('config_refused'),
    )
    const { body: policy } = await lab().call({ method: 'GET', path: '/api/policy' })
    expect(policy.zones).toEqual([lab().description.zone])
  })

  test('what only a restart can change is named', async () => {
    change(() => ({ monitor: { everySeconds: 7 }, rateLimits: { public: { plan: 31 } } }))
    expect((await reloaded()).stdout).toBe(
      'In force now: rateLimits.\nChanged, and in force after a restart: monitor.\n',
    )
  })

  test('without a service there is nothing to reload', async () => {
    const other = join(lab().state, 'other.yaml')
    copyFileSync(file, other)
    chmodSync(other, 0o600)
    writeFileSync(other, stringify({ ...parse(first), stateDir: join(lab().state, 'nobody-here') }))
    const refused = await command(['reload', '--config', other])
    expect(refused.stderr).toContain('No service uses the state folder')
  })
}

/** The blocks of a section of docs/operations.md, each as its lines without comments. */
function blocksOf(section: string): string[][] {
  const page = readFileSync('docs/operations.md', 'utf8')
  const text = page.split(/^##+ /m).find((part) => part.startsWith(`${section}\n`)) ?? ''
  const blocks = text.split(/^```(?:sh)?$/m).filter((_, at) => at % 2 === 1)
  return blocks.map((block) => block.split('\n').flatMap((line) => line.replace(/\s+# .*/, '').trim() || []))
}

const zoneOf = (config: ServiceConfig, zone: string): { tsig?: object } =>
  (config.zones as Record<string, { tsig?: object }>)[zone] ?? {}
