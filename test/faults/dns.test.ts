import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Bind } from '../../lab/bind.ts'
import type { ServiceConfig } from '../../lab/service-config.ts'
import type { Endpoint } from '../../src/model/address.ts'
import { killDns, reviveDns, updateZone } from '../support/dns/lab-dns.ts'
import { zoneRecords } from '../support/dns/zone-transfer.ts'
import { type HeldNginx, heldNginx } from '../support/edge/held-nginx.ts'
import { follow } from '../support/http/event-stream.ts'
import { applied, invariants, planned, planOf, removed, run, world } from '../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../support/lab/lab.ts'
import { expectApplicable, expectFailure, expectPutBack } from '../support/lab/put-back.ts'
import { startAnswerThief } from '../support/programs/answer-thief.ts'

let lab: TestLab
let edge: HeldNginx
let revived: Bind | undefined
beforeAll(async () => {
  edge = heldNginx('23')
  lab = await startTestLab({ configure: edge.configure })
})
afterAll(async () => {
  await lab?.stop()
  edge?.[Symbol.dispose]()
  await revived?.stop()
})

const withZone = (config: ServiceConfig, change: (zone: Record<string, unknown>) => Record<string, unknown>) => {
  const zones = config.zones as Record<string, Record<string, unknown>>
  return { ...config, zones: { 'lab.test': { ...zones['lab.test'], ...change(zones['lab.test'] ?? {}) } } }
}

/** Does something between the checks of a run and the end of its proxy step, which waits for nginx. Returns the answer of the run. */
async function afterChecks(planId: string, happens: () => void | Promise<void>) {
  edge.hold()
  const stream = follow(lab, `/api/deploy/plans/${planId}/events`)
  const answering = run(lab, planId)
  await stream.seen('started', 'proxy')
  await happens()
  edge.release()
  return answering.finally(() => stream.close())
}

test('an apply is undone when somebody creates the name after the checks', async () => {
  const { planId } = await planned(lab, { subdomain: 'contested' })
  const answer = await afterChecks(planId, () => updateZone(lab, 'add contested.lab.test 60 TXT "first"'))
  expectFailure(answer, 409, 'dns_name_taken', 'dns')
  expect((await planOf(lab, planId)).state).toBe('rolled_back')
  const kept = (await zoneRecords(lab)).filter(({ name }) => name.endsWith('contested.lab.test'))
  expect(kept).toMatchObject([{ name: 'contested.lab.test', type: 'TXT', value: '"first"' }])
  await invariants(lab)
  updateZone(lab, 'delete contested.lab.test')
  await expectApplicable(lab, planId)
})

test('an apply is undone when the DNS server refuses the key', async () => {
  const before = await world(lab)
  const wrong = join(lab.state, 'secrets', 'wrong')
  writeFileSync(wrong, Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 })
  await lab.restartService((config) =>
    withZone(config, ({ tsig }) => ({ tsig: { ...(tsig as object), secretFile: wrong } })),
  )
  const { planId } = await planned(lab, { subdomain: 'unsigned' })
  expectFailure(await run(lab, planId), 502, 'apply_failed', 'dns')
  await expectPutBack(lab, planId, before)
  await lab.restartService()
  await expectApplicable(lab, planId)
})

test.runIf(process.env.CAMPAIGN)(
  'an apply succeeds when the answer to an update is lost: the records are read',
  async () => {
    const before = await world(lab)
    const { primary } = lab.description.dns
    await using thief = await startAnswerThief(primary)
    const relay = await relayQueries(thief.port, primary)
    await lab.restartService((config) => withZone(config, () => ({ primary: `127.0.0.1:${thief.port}` })))
    const { planId } = await applied(lab, { subdomain: 'unanswered' })
    expect(thief.stolen()).toBeGreaterThan(0)
    await invariants(lab)
    await removed(lab, planId)
    expect(await world(lab)).toEqual(before)
    await invariants(lab)
    relay.close()
    await lab.restartService()
  },
)

test('a removal keeps a record that somebody else changed, and reports it', async () => {
  const { planId } = await applied(lab, { subdomain: 'altered' })
  updateZone(lab, 'delete altered.lab.test A', 'add altered.lab.test 60 A 127.0.0.9')
  const before = await world(lab)
  const answer = await run(lab, planId, 'remove')
  expectFailure(answer, 502, 'remove_failed', 'dns')
  expect(await world(lab)).toEqual(before)
  expect((await planOf(lab, planId)).state).toBe('applied')
  const { address } = lab.description.edges.primary
  updateZone(lab, 'delete altered.lab.test A', `add altered.lab.test 60 A ${address}`)
  await removed(lab, planId)
  await invariants(lab)
})

test.runIf(process.env.CAMPAIGN)('an apply is refused when the name server is down', async () => {
  const before = await world(lab)
  const [first, second] = [await planned(lab, { subdomain: 'dark' }), await planned(lab, { subdomain: 'dusk' })]
  const standing = await applied(lab, { subdomain: 'standing' })
  const answer = await afterChecks(second.planId, () => killDns(lab))
  expectFailure(answer, 502, 'apply_failed', 'dns')
  expectFailure(await run(lab, first.planId), 503, 'dns_unavailable', 'check')
  const removal = await run(lab, standing.planId, 'remove')
  expectFailure(removal, 502, 'remove_failed', 'dns')
  revived = await reviveDns(lab)
  expect((await planOf(lab, standing.planId)).state).toBe('applied')
  await invariants(lab)
  await removed(lab, standing.planId)
  for (const { planId } of [first, second]) {
    await expectPutBack(lab, planId, before)
    await expectApplicable(lab, planId)
  }
})

/** Forwards UDP queries that come to the address of the updates, and their answers. */
async function relayQueries(port: number, server: Endpoint) {
  const socket = createSocket('udp4')
  socket.on('message', (message, client) => {
    const upstream = createSocket('udp4')
    upstream.once('message', (answer) => {
      socket.send(answer, client.port, client.address)
      upstream.close()
    })
    upstream.send(message, server.port, server.address)
  })
  socket.bind(port, '127.0.0.1')
  await once(socket, 'listening')
  return socket
}
