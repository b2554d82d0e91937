import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { parseAddress } from '../../../model/address.ts'

const known = new Map<string, readonly string[]>()
const MAX_KNOWN = 1_000

/**
 * The addresses for `listen name:…` in the hosts file of this machine. Returns the name itself if the file does not have it: only
 * nginx queries DNS.
 */
export function addressesOf(name: string): readonly string[] {
  const addresses = known.get(name) ?? addressesIn(textOfHosts(), name, hasIpv6())
  if (known.size < MAX_KNOWN) known.set(name, addresses)
  return addresses
}

/** `isIpv6Used`: the C library omits IPv6 addresses while only the loopback interface has one. */
export function addressesIn(hosts: string, name: string, isIpv6Used: boolean): readonly string[] {
  const lines = hosts.split('\n').map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/))
  const written = lines.flatMap(([address = '', ...names]) => (names.includes(name) ? [parseAddress(address)] : []))
  const found = new Set(written.filter((address) => address !== undefined))
  const ipv4 = [...found].filter((address) => !address.includes(':'))
  const ipv6 = isIpv6Used ? [...found].filter((address) => address.includes(':')).map((address) => `[${address}]`) : []
  if (name === 'localhost' && ipv4.length === 0) ipv4.push('127.0.0.1')
  const all = [...ipv4, ...ipv6]
  return all.length > 0 ? all : [name]
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
