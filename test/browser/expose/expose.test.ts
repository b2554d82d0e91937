import { oneSite } from '../site/one-site.ts'
import { nothingLost } from './nothing-lost.ts'
import { story } from './story.ts'
import { weight } from './weight.ts'

const site = oneSite()

weight()
story(site)
nothingLost(site)
