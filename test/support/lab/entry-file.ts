import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EdgeDescription } from '../../../lab/description.ts'
import { shardFile } from '../../../src/nginx/config/shards.ts'
import { PresentGeneration } from '../../../src/nginx/generations/present.ts'

/** The file in which the entry of a host stands, or would stand. The path is the same in every generation. */
export const entryFile = ({ folder }: Pick<EdgeDescription, 'folder'>, host: string): string =>
  new PresentGeneration(folder).whereIs(host).file

/** Whether the present generation says where the host is proxied to. */
export function hasEntry(edge: Pick<EdgeDescription, 'folder'>, host: string): boolean {
  const file = entryFile(edge, host)
  return (
    existsSync(file) &&
    readFileSync(file, 'utf8')
      .split('\n')
      // A line of the hosts without options, or the head of a block of its own.
      .some((line) => line.startsWith(`${host} `) || line === `#: ${host}`)
  )
}

/**
 * Edits the entry of a host in its file, as somebody with an editor would: the text comes behind its line, or to the top of its
 * block. A line of its own in a shared file would belong to no host.
 */
export function editEntry(file: string, host: string, text = ' # edited'): void {
  const before = readFileSync(file, 'utf8')
  const after = before.replace(new RegExp(`^(?:${host} .*|#: ${host}\\n)`, 'm'), (own) =>
    own.endsWith('\n') ? `${own}${text}\n` : `${own}${text}`,
  )
  if (after === before) throw new Error(`${file} has no entry of ${host}.`)
  writeFileSync(file, after)
}

/** The file that names the certificate of a host. */
export const certificateEntryFile = ({ folder }: Pick<EdgeDescription, 'folder'>, host: string): string =>
  join(folder, 'current', shardFile('tls/hosts', host))

/** The file with the certificate of a host. */
export function certificateFile({ folder }: Pick<EdgeDescription, 'folder'>, host: string): string {
  const { entry } = new PresentGeneration(folder).find(host) ?? {}
  return join(folder, 'current', shardFile('tls/certificates-1', entry?.certificate ?? ''))
}
