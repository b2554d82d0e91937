import { startPowerDns } from '../../support/dns/powerdns.ts'
import { describeStalls } from './stalled-server.ts'

describeStalls('PowerDNS', startPowerDns)
