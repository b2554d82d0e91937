import { statePaths } from '../../../lab/state.ts'
import { askForDuties } from '../../../src/operate/control/client.ts'
import type { DutyName, DutyReport } from '../../../src/runs/duties.ts'
import { until } from '../until.ts'
import type { TestLab } from './lab.ts'

/** Lets the service of a lab run these duties now, instead of waiting for its timers. Without a duty: all of them. */
export const housekeeping = ({ state }: Pick<TestLab, 'state'>, ...duties: DutyName[]): Promise<DutyReport[]> =>
  askForDuties(statePaths(state).service, duties.length > 0 ? duties : undefined)

/** Lets the monitor check all hosts until `holds`. One check is enough, unless nginx is still loading its configuration. */
export const untilChecked = (
  lab: Pick<TestLab, 'state'>,
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> =>
  until(what, async () => {
    if (await holds()) return true
    await housekeeping(lab, 'check')
    return holds()
  })
