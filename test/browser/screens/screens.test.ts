import { oneSite } from '../site/one-site.ts'
import { screens } from './screens.ts'

screens(oneSite())
