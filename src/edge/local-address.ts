import { readFile } from 'node:fs/promises'
import { parseAddress } from '../model/address.ts'

const TABLE = '/etc/hosts'

/** The first address that the machine's own table gives a name. */
export async function localAddress(name: string): Promise<string | undefined> {
  const lines = (await readFile(TABLE, 'utf8').catch(() => '')).split('\n')
  const line = lines
    .map((text) => text.replace(/#.*/, '').trim().split(/\s+/))
    .find(([, ...names]) => names.includes(name))
  return parseAddress(line?.[0] ?? '')
}
