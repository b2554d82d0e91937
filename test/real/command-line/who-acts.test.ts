import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { statePaths } from '../../../lab/state.ts'
import type { LabAgent } from '../../support/lab/agents.ts'
import { hasEntry } from '../../support/lab/entry-file.ts'
import { applied, planned, removed, run } from '../../support/lab/exposure.ts'
import { startTestLab, startWithAgents, type TestLab } from '../../support/lab/lab.ts'
import { startSecondInstance } from '../../support/lab/second-instance.ts'
import { commandHere } from '../../support/programs/command-here.ts'
import { until } from '../../support/until.ts'

vi.setConfig({ testTimeout: 240_000 })

/** The table "Who acts" of docs/cli.md, row by row. */
let lab: TestLab
afterEach(() => lab?.stop())

const drawbridge = async (...args: string[]): Promise<{ code: number; said: string }> => {
  const { code, stdout, stderr } = await commandHere(args)
  return { code, said: stdout + stderr }
}
const here = (...args: string[]) => drawbridge(...args, '--config', statePaths(lab.state).config)
const HAND_OVER = ['edge', 'hand-over', 'store_4f1c', 'store_a07b', '--yes'] as const
const file = (name: string) => join(lab.state, `${name}.backup`)
const did = (said = '') => ({ code: 0, said: expect.stringContaining(said) })
const refused = (said: string) => ({ code: expect.not.toBeOneOf([0]), said: expect.stringContaining(said) })
const edge = () => lab.description.edges.primary

test('with an nginx of its own the service acts while it runs, and commands act and own nginx while it does not', async () => {
  lab = await startTestLab()
  const { planId, host } = await applied(lab, { subdomain: 'acted' })
  const owner = `Edge 23 belongs to process ${lab.description.pids.service}, and one nginx has one owner.`
  expect(await here('reload')).toMatchObject(did())
  expect(await here('housekeeping', 'converge')).toMatchObject(did())
  expect(await here('edge', 'converge')).toMatchObject(did())
  expect(await here('backups', 'list')).toMatchObject(did(host))
  expect(await here('backup', file('up'), '--unencrypted')).toMatchObject(did())
  expect((await here('doctor')).said).toContain('No other process owns its folder.')
  expect(await here('show', host)).toMatchObject(did(host))
  expect(await here(...HAND_OVER, '--server', '23')).toMatchObject(refused(owner))
  for (const command of [
    ['restore', file('up')],
    ['rebuild', '--from-world', '--yes'],
  ])
    expect(await here(...command)).toMatchObject(refused('Another Drawbridge service uses the state folder'))
  await removed(lab, planId)
  const later = await applied(lab, { subdomain: 'later' })

  await lab.stopService()
  for (const command of [['reload'], ['housekeeping', 'converge']])
    expect(await here(...command)).toMatchObject(refused('service'))
  expect(await here(...HAND_OVER, '--server', '23')).toMatchObject(did('0 hosts belong'))
  expect(await here('rebuild', '--from-world', '--yes')).toMatchObject(did())
  expect(await here('edge', 'converge')).toMatchObject(did())
  expect(await here('withdraw', '--all', '--yes')).toMatchObject(did(later.host))
  expect(hasEntry(edge(), later.host)).toBe(false)
  expect(await here('backup', file('down'), '--unencrypted')).toMatchObject(did())
  await lab.restartService()
  await removed(lab, (await applied(lab, { subdomain: 'after' })).planId)
})

test('with an agent the service or the command acts through it, and what has to own nginx is refused while it runs', async () => {
  const started = await startWithAgents()
  lab = started.lab
  const agent = started.agents.agents['23'] as LabAgent
  const onEdge = (...args: string[]) => drawbridge(...args, '--config', agent.configFile)
  const owned = [HAND_OVER, ['edge', 'leave', '--yes']] as const
  const owner = () => `Edge 23 belongs to process ${agent.pid}, and one nginx has one owner.`
  const first = await applied(lab, { subdomain: 'first' })
  expect(await here('edge', 'converge')).toMatchObject(did())
  for (const command of owned) expect(await onEdge(...command)).toMatchObject(refused(owner()))

  await lab.stopService()
  for (const command of owned) expect(await onEdge(...command)).toMatchObject(refused(owner()))
  expect(await here('withdraw', '--all', '--yes')).toMatchObject(did(first.host))
  expect(hasEntry(edge(), first.host)).toBe(false)
  expect(await here('rebuild', '--from-world', '--yes')).toMatchObject(did())

  await started.agents.stop()
  expect(await here('rebuild', '--from-world', '--yes')).toMatchObject(refused('23'))
  expect(await here('housekeeping', 'converge')).toMatchObject(refused('service'))
  for (const command of owned) expect(await onEdge(...command)).toMatchObject(did())
})

test('a second service on one nginx only plans and reads, says who has it, and goes on by itself when that one has ended', async () => {
  lab = await startTestLab()
  await using second = await startSecondInstance(lab)
  const other = { description: lab.description, call: second.call }
  const { planId, host } = await planned(other, { subdomain: 'second' })
  const told = await run(other, planId)
  expect([told.status, told.body.detail]).toEqual([
    503,
    expect.stringContaining(
      `Edge 23 is not prepared: Edge 23 belongs to process ${lab.description.pids.service}, and one nginx has one owner. Stop that process. ` +
        'If several services use this nginx, run the edge agent for it and set edges.23.agent in each of them.',
    ),
  ])
  expect((await second.call({ method: 'GET', path: '/api/hosts' })).status).toBe(200)
  await removed(lab, (await applied(lab, { subdomain: 'first' })).planId)
  await lab.stopService()
  await until('the second service owns nginx', async () => (await run(other, planId)).status === 200, 60_000)
  expect(hasEntry(edge(), host)).toBe(true)
})
