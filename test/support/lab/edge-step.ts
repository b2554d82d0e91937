import { until } from '../until.ts'
import { housekeeping } from './housekeeping.ts'
import type { TestLab } from './lab.ts'

/** The causes for which edges are out of step, by server, as the metrics of the service say. */
export async function outOfStep(lab: TestLab): Promise<Map<string, string>> {
  const { text } = await lab.call({ path: '/metrics' })
  const lines = text.matchAll(/^drawbridge_edge_out_of_step_seconds\{server="(\d+)",cause="(\w+)"\}/gm)
  return new Map([...lines].map(([, server = '', cause = '']) => [server, cause]))
}

/** Lets the service look for edges that are behind now, and waits until all are in step. */
export async function bringInStep(lab: TestLab): Promise<void> {
  await housekeeping(lab, 'converge')
  await untilInStep(lab)
}

/** On a busy machine a run may end before the Secondary has made its change, and what was away is found some seconds later. */
export const untilInStep = (lab: TestLab): Promise<void> =>
  until('all edges are in step', async () => (await outOfStep(lab)).size === 0)
