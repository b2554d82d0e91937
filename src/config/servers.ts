import type { Section } from './section.ts'
import * as value from './values.ts'

/** The registry: every server that has an id here, and the part it plays. */
export interface Servers {
  readonly addresses: Readonly<Record<string, string>>
  readonly targets: readonly string[]
  readonly primary: string
  readonly secondary: string | undefined
}

const DEFAULT_ADDRESSES: Record<string, string> = {
  '23': '192.168.45.23',
  '25': '192.168.45.25',
  '253': '192.168.45.253',
  '73': '192.168.45.73',
}

export function readServers(section: Section): Servers {
  const registry = section.section('addresses')
  const addresses = section.has('addresses') ? readAddresses(registry) : DEFAULT_ADDRESSES
  const id = 'the id of a server, such as 23'
  const targets = section.list('targets', ['23', '25', '253'], value.serverId, 'ids of servers')
  const primary = section.read('primary', '23', value.serverId, id)
  const named = section.read('secondary', '73', value.serverId, `${id}, or none`)
  const secondary = named === 'none' ? undefined : named
  for (const [field, ids] of Object.entries({ targets, primary: [primary], secondary: secondary ? [secondary] : [] })) {
    for (const unknown of ids.filter((candidate) => addresses[candidate] === undefined)) {
      section.refuse(field, `names ${unknown}, which has no address; allowed: ${Object.keys(addresses).join(', ')}`)
    }
  }
  return { addresses, targets, primary, secondary }
}

function readAddresses(section: Section): Record<string, string> {
  const addresses: Record<string, string> = {}
  for (const key of section.keys()) {
    if (!value.serverId(key)) section.refuse(key, 'is not allowed; allowed: up to 32 letters, digits and hyphens')
    addresses[key] = section.required(key, value.address, '', 'an IP address')
  }
  return addresses
}
