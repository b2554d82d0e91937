import { oneSite } from '../site/one-site.ts'
import { access } from './access.ts'
import { connection } from './connection.ts'
import { crowd } from './crowd.ts'

const site = oneSite()

access(site)
connection(site)
crowd(site)
