import { access } from './access.ts'
import { connection } from './connection.ts'
import { crowd } from './crowd.ts'
import { oneSite } from './one-site.ts'

const site = oneSite()

access(site)
connection(site)
crowd(site)
