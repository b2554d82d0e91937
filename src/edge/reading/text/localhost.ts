import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { parseAddress } from '../../../model/address.ts'

const IPV4 = '127.0.0.1'
const IPV6 = '[::1]'

let known: readonly string[] | undefined

/** Where nginx listens for `listen localhost:…`, as this machine resolves the name. */
export function localhostAddresses(): readonly string[] {
  known ??= localhostIn(textOfHosts(), hasIpv6())
  return known
}

/** `isIpv6Used`: the C library leaves out IPv6 while no interface but the loopback has such an address. */
export function localhostIn(hosts: string, isIpv6Used: boolean): readonly string[] {
  const lines = hosts.split('\n').map((line) => line.replace(/#.*/, '').trim().split(/\s+/))
  const isNamed = lines.some(
    ([address = '', ...names]) => parseAddress(address) === '::1' && names.includes('localhost'),
  )
  return isNamed && isIpv6Used ? [IPV4, IPV6] : [IPV4]
}

function textOfHosts(): string {
  try {
    return readFileSync('/etc/hosts', 'utf8')
  } catch {
    return ''
  }
}

const hasIpv6 = (): boolean =>
  Object.values(networkInterfaces()).some((all) => all?.some(({ family, internal }) => family === 'IPv6' && !internal))
