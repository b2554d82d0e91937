import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ListedHost } from '../../../src/edge/contract/list.ts'
import { certificateId } from '../../../src/edge/record/entry.ts'
import { entryProof } from '../../../src/edge/record/proof.ts'
import { isSecretFile, shardFile } from '../../../src/nginx/config/shards.ts'
import { localEdge } from '../../../src/nginx/local-edge.ts'
import { startTestEdge, type TestEdge, type TestPair } from '../../support/edge/edge.ts'
import { listing } from '../../support/edge/edge-folder.ts'
import { editEntry } from '../../support/lab/entry-file.ts'

/**
 * An edge as the version before records left it, recorded from that version: hosts as lines and as server blocks, with and without
 * options, with certificates of their own and a shared one. Only the certificates are made anew.
 */
const RECORDED = new URL('../../support/edge/former/generation.txt', import.meta.url)
const GENERATION = 11
const LONG = `${'l'.repeat(60)}.lab.test`
const PROOF = 'ab'.repeat(32)
const OPTIONS = { maxBody: '5m', timeouts: { read: 30 }, headers: { frameOptions: 'DENY' } }

let at: TestEdge
let backend: Server
let pairs: { own: TestPair; wildcard: TestPair; full: TestPair }
beforeEach(async () => {
  at = await startTestEdge()
  backend = createServer((_, response) => response.end('here')).listen(0, '127.0.0.1')
  await once(backend, 'listening')
  pairs = {
    own: await at.certificate('own.lab.test'),
    wildcard: await at.certificate('*.lab.test'),
    full: await at.certificate('full.lab.test'),
  }
  placeFormer()
})
afterEach(async () => {
  backend?.close()
  backend?.closeAllConnections()
  await at?.stop()
})

const path = (name: string) => join(at.folder, name)
const port = () => (backend.address() as AddressInfo).port
const idOf = (name: keyof typeof pairs) => certificateId(pairs[name].fingerprint)

/** Host -> the letter of its plan, its certificate, and what else its record has. */
const HOSTS: Record<string, { plan: string; certificate?: keyof typeof pairs; options?: object; further?: number }> = {
  'plain.lab.test': { plan: 'a' },
  'edited.lab.test': { plan: 'b' },
  'own.lab.test': { plan: 'c', certificate: 'own' },
  'one.lab.test': { plan: 'd', certificate: 'wildcard' },
  'two.lab.test': { plan: 'e', certificate: 'wildcard' },
  [LONG]: { plan: 'f', certificate: 'wildcard' },
  'options.lab.test': { plan: '0', options: OPTIONS },
  'full.lab.test': { plan: '1', certificate: 'full', options: OPTIONS, further: 39_394 },
  'block.lab.test': { plan: '2' },
  'block-tls.lab.test': { plan: '3', certificate: 'wildcard' },
}

const recordOf = (host: string) => {
  const { plan, certificate, options, further } = HOSTS[host] ?? { plan: '' }
  return {
    ...{ host, plan: `plan_${plan.repeat(26)}` },
    targets: [port(), ...(further === undefined ? [] : [further])].map((one) => ({
      ...{ scheme: 'http', address: '127.0.0.1', port: one },
    })),
    certificate: certificate === undefined ? null : idOf(certificate),
    ...(options && { options }),
    proof: entryProof(PROOF, host),
  }
}

/** Puts the recorded files in the place of what the present version has written. */
function placeFormer(): void {
  for (const name of ['generations', 'current', 'pairs', 'drawbridge.conf']) rmSync(path(name), { recursive: true })
  const generation = path(`generations/${GENERATION}`)
  const write = (file: string, text: string) => {
    const place = file === 'drawbridge.conf' ? path(file) : join(generation, file)
    mkdirSync(dirname(place), { recursive: true })
    // Two certificates may be in one file.
    appendFileSync(place, text)
    if (place.includes('/tls/')) chmodSync(place, 0o600)
  }
  const recorded = readFileSync(RECORDED, 'utf8')
    .replaceAll('@FOLDER@', at.folder)
    .replaceAll('@ADDRESS@', at.address)
    .replaceAll('@BACKEND@', `127.0.0.1:${port()}`)
    .replaceAll('@OWN@', idOf('own'))
    .replaceAll('@WILDCARD@', idOf('wildcard'))
    .replaceAll('@FULL@', idOf('full'))
  for (const part of recorded.split(/^=== /m).slice(1)) {
    const end = part.indexOf('\n')
    write(part.slice(0, end), part.slice(end + 1))
  }
  for (const { fingerprint, certificatePem, keyPem } of Object.values(pairs)) {
    const id = certificateId(fingerprint)
    write(shardFile('tls/certificates-1', id), `${id} "${certificatePem}";\n`)
    write(shardFile('tls/keys-1', id), `${id} "${keyPem}";\n`)
  }
  writeFileSync(join(generation, 'drawbridge.conf'), readFileSync(path('drawbridge.conf')))
  symlinkSync(`generations/${GENERATION}`, path('current'))
}

/** What a visitor gets, by the entry of the plan: ours, with its certificate. */
async function failureOf(host: string): Promise<string | undefined> {
  const { certificate } = HOSTS[host] ?? {}
  const answer = await at.edge.ask({ host, path: '/', tls: certificate !== undefined, proof: PROOF })
  const isWell =
    answer.kind === 'answer' &&
    answer.httpStatus === 200 &&
    answer.entry === 'ours' &&
    answer.certificate?.fingerprint === (certificate && pairs[certificate].fingerprint)
  return isWell ? undefined : `${host}: ${JSON.stringify(answer)}`
}
const failures = async () =>
  (await Promise.all(Object.keys(HOSTS).map(failureOf))).filter((failure) => failure !== undefined)

/** Visits all hosts until it is stopped. */
function startLoad() {
  let isWanted = true
  const failed: string[] = []
  let good = 0
  const visits = Object.keys(HOSTS).map(async (host) => {
    while (isWanted) {
      const failure = await failureOf(host)
      if (failure === undefined) good += 1
      else failed.push(failure)
    }
  })
  return async () => {
    isWanted = false
    await Promise.all(visits)
    return { good, failed }
  }
}

const listed = async (): Promise<Record<string, ListedHost>> =>
  Object.fromEntries((await at.edge.list()).hosts.map((one) => [one.host, one]))

test('becomes records in one generation, without a failed request and without drift', async () => {
  await at.reload()
  expect(await failures()).toEqual([])
  const stop = startLoad()
  await localEdge(at).prepare()
  const { good, failed } = await stop()
  expect(failed).toEqual([])
  expect(good).toBeGreaterThan(0)
  expect(at.generation()).toBe(GENERATION + 1)
  expect(await failures()).toEqual([])

  const hosts = await listed()
  expect(Object.keys(hosts).toSorted()).toEqual(Object.keys(HOSTS).toSorted())
  for (const host of Object.keys(HOSTS)) expect(hosts[host]).toMatchObject({ entry: recordOf(host), drift: [] })
  // Only options need server blocks.
  expect(at.keysOf('blocks')).toEqual(['full.lab.test', 'options.lab.test'])
  expect(at.keysOf('entries')).toEqual(Object.keys(HOSTS).toSorted())
  expect(listing(path('current/entries')).every((line) => / 600 /.test(line))).toBe(true)
  expect(isSecretFile('entries/00.json')).toBe(true)

  for (const { fingerprint, certificatePem, keyPem } of Object.values(pairs)) {
    const pair = (name: string) => readFileSync(path(`pairs/${certificateId(fingerprint)}/${name}.pem`), 'utf8')
    expect([pair('certificate'), pair('key')]).toEqual([certificatePem, keyPem])
  }
  for (const line of listing(path('pairs'))) expect(line).toMatch(/\/ 700$|\.pem 600 /)

  await localEdge(at).prepare()
  expect(at.generation()).toBe(GENERATION + 1)
})

test('what somebody has edited by hand is carried along, byte for byte, and is drift', async () => {
  const edits: Record<string, [kind: string, from: string, to: string]> = {
    'edited.lab.test': ['backends', `:${port()};`, `:${port()}; # by hand`],
    'options.lab.test': ['blocks', 'proxy_read_timeout 30s;', 'proxy_read_timeout 31s;'],
    'block.lab.test': ['blocks', 'proxy_send_timeout 60s;', 'proxy_send_timeout 61s;'],
  }
  for (const [host, [kind, from, to]] of Object.entries(edits)) {
    const file = at.fileOf(kind, host)
    const text = readFileSync(file, 'utf8')
    const begin = text.indexOf(kind === 'blocks' ? `#: ${host}` : `${host} `)
    writeFileSync(file, text.slice(0, begin) + text.slice(begin).replace(from, to))
  }
  await at.reload()
  expect(await failures()).toEqual([])
  const stop = startLoad()
  await localEdge(at).prepare()
  expect((await stop()).failed).toEqual([])
  const standing = async () => {
    const hosts = await listed()
    for (const [host, [kind, , to]] of Object.entries(edits)) {
      expect(readFileSync(at.fileOf(kind, host), 'utf8'), host).toContain(to)
      expect(hosts[host]?.drift, host).not.toEqual([])
    }
    for (const host of Object.keys(HOSTS).filter((one) => !(one in edits)))
      expect(hosts[host], host).toMatchObject({ entry: recordOf(host), drift: [] })
  }
  await standing()
  // Neither a start nor the change of others takes it away.
  await localEdge(at).prepare()
  await at.place({ host: 'new.lab.test', planId: `plan_${'9'.repeat(26)}`, target: `http://127.0.0.1:${port()}` })
  await at.remove('block-tls.lab.test')
  await expect(at.remove('options.lab.test')).rejects.toMatchObject({ kind: 'changed_elsewhere' })
  await at.place({
    ...{ host: 'block-tls.lab.test', planId: `plan_${'3'.repeat(26)}`, target: `http://127.0.0.1:${port()}` },
    ...{ certificate: pairs.wildcard, proof: PROOF },
  })
  await standing()
  expect(await failures()).toEqual([])
})

test('a host is changed, renewed and removed after it as every other', async () => {
  await at.reload()
  await localEdge(at).prepare()
  const renewed = await at.certificate('own.lab.test')
  const site = { host: 'own.lab.test', planId: `plan_${'c'.repeat(26)}`, target: `http://127.0.0.1:${port()}` }
  await at.place({ ...site, proof: PROOF, certificate: renewed })
  expect(await at.edge.ask({ host: site.host, path: '/', tls: true, proof: PROOF })).toMatchObject({
    ...{ httpStatus: 200, entry: 'ours', certificate: { fingerprint: renewed.fingerprint } },
  })
  editEntry(at.fileOf('backends', 'plain.lab.test'), 'plain.lab.test')
  await expect(at.remove('plain.lab.test')).rejects.toMatchObject({ kind: 'changed_elsewhere' })
  await Promise.all(Object.keys(HOSTS).map((host) => at.remove(host, { mend: true })))
  expect((await at.edge.list()).hosts).toEqual([])
  expect(existsSync(path(`generations/${GENERATION}`))).toBe(true)
})
