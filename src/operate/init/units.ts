import { existsSync } from 'node:fs'
import { join } from 'node:path'

export const AGENT_UNIT = 'drawbridge-edge.service'
const FOLDERS = ['/usr/lib/systemd/system', '/etc/systemd/system']

/** Whether systemd has the unit of the agent, as after an installation of the package. */
export const hasAgentUnit = (): boolean => FOLDERS.some((folder) => existsSync(join(folder, AGENT_UNIT)))

/** As sd_booted(3) tells it. The container image has the units of the package, and no systemd. */
export const isBootedBySystemd = (): boolean => existsSync('/run/systemd/system')
