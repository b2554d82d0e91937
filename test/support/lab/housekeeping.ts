import { statePaths } from '../../../lab/state.ts'
import { askForDuties } from '../../../src/operate/control/client.ts'
import type { DutyName, DutyReport } from '../../../src/runs/duties.ts'
import type { TestLab } from './lab.ts'

/** Lets the service of a lab run these duties now, instead of waiting for its timers. Without a duty: all of them. */
export const housekeeping = ({ state }: Pick<TestLab, 'state'>, ...duties: DutyName[]): Promise<DutyReport[]> =>
  askForDuties(statePaths(state).service, duties.length > 0 ? duties : undefined)
