import { startBindHost } from '../../support/dns/bind.ts'
import { describeStalls } from './stalled-server.ts'

describeStalls('BIND', startBindHost)
