import { access } from './access.ts'
import { connection } from './connection.ts'
import { crowd } from './crowd.ts'
import { gallery } from './gallery.ts'
import { oneSite } from './one-site.ts'

const site = oneSite()

access(site)
connection(site)
gallery(site)
crowd(site)
