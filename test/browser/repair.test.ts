import { keyboard } from './keyboard.ts'
import { oneSite } from './one-site.ts'
import { outside } from './outside.ts'
import { refusals } from './refusals.ts'
import { repairs } from './repairs.ts'

const site = oneSite()

repairs(site)
outside(site)
refusals(site)
keyboard(site)
