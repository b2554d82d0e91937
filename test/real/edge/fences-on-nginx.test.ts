import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { localEdge } from '../../../src/nginx/local-edge.ts'
import { servingWorkers } from '../../../src/nginx/process/nginx-workers.ts'
import { changeHost, PLAN_ID, startTestEdge, type TestEdge } from '../../support/edge/edge.ts'
import { configurationListing } from '../../support/edge/edge-folder.ts'

let at: TestEdge
beforeAll(async () => {
  at = await startTestEdge()
})
afterAll(() => at?.stop())

const HOST = 'shop.lab.test'
const fenceOf = (number: number, epoch = 1) => ({ host: HOST, epoch, number })
const FENCED = { kind: 'fenced' }

/** Places or removes the host under a fence. */
async function change(number: number, target: string | null, epoch = 1): Promise<void> {
  const under = { fence: fenceOf(number, epoch) }
  if (target === null) await at.remove(HOST, under)
  else await at.place({ host: HOST, planId: PLAN_ID, target }, under)
}

const ours = () => configurationListing(at.folder)
const isServed = async () => (await at.edge.ask({ host: HOST, path: '/', tls: false })).kind === 'answer'

test('a change of an older run writes no file and reloads nothing', async () => {
  await change(1, 'http://127.0.0.1:9')
  await change(3, 'http://127.0.0.1:10')
  const [before, workers] = [ours(), servingWorkers(at.pid)]
  for (const target of ['http://127.0.0.1:11', null]) await expect(change(2, target)).rejects.toMatchObject(FENCED)
  expect(ours()).toEqual(before)
  expect(servingWorkers(at.pid)).toEqual(workers)
  await change(3, 'http://127.0.0.1:12')
  expect(readFileSync(at.fileOf('backends', HOST), 'utf8')).toContain(`${HOST} http://127.0.0.1:12;`)
})

test('the fence of a removed host stays, also over a start of the service', async () => {
  await change(4, null)
  expect(await isServed()).toBe(false)
  const restarted = localEdge(at)
  await restarted.prepare()
  await expect(change(3, 'http://127.0.0.1:9')).rejects.toMatchObject(FENCED)
  expect(await isServed()).toBe(false)
  await change(1, 'http://127.0.0.1:9', 2)
  expect(await isServed()).toBe(true)
})

test('nginx does not read the fences, and no change or list can name their file', async () => {
  const dump = await promisify(execFile)(at.binary, [
    '-T',
    '-q',
    '-e',
    'stderr',
    '-p',
    at.prefix ?? '',
    '-c',
    at.config,
  ])
  expect(dump.stdout).toContain(`server_name ${HOST};`)
  expect(dump.stdout).not.toContain('.fences')
  await expect(changeHost(at.edge, '.fences', 'absent')).rejects.toThrow('It is not a host')
  await expect(at.edge.list(['.fences'])).rejects.toThrow('not a valid host name')
})
