import { GRANTED_TYPES, renderKeyHelp } from '../../../src/operate/init/files.ts'
import type { ServedZone } from './served-zone.ts'

/** The lines that `drawbridge init` prints for the administrator of a DNS server, as they are pasted there. */
export function pastedKey(server: 'Knot' | 'PowerDNS', { zone, key }: Pick<ServedZone, 'zone' | 'key'>): string[] {
  const types = [...GRANTED_TYPES, 'CNAME']
  const help = renderKeyHelp({ name: zone, key, keptIn: undefined, types, address: '127.0.0.1' })
  const start = help.findIndex((line) => line.startsWith(`${server} (`)) + 1
  const end = help.indexOf('', start)
  const lines = help.slice(start, end < 0 ? undefined : end)
  if (start === 0 || lines.length === 0) throw new Error(`init prints nothing for ${server}.`)
  return lines.map((line) => line.slice(2))
}
