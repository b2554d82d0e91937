import { oneSite } from '../site/one-site.ts'
import { keyboard } from './keyboard.ts'
import { outside } from './outside.ts'
import { refusals } from './refusals.ts'
import { repairs } from './repairs.ts'

const site = oneSite()

repairs(site)
outside(site)
refusals(site)
keyboard(site)
