import { startKnot } from '../../support/dns/knot.ts'
import { describeStalls } from './stalled-server.ts'

describeStalls('Knot', startKnot)
