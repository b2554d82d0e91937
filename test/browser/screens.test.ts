import { oneSite } from './one-site.ts'
import { screens } from './screens.ts'

screens(oneSite())
