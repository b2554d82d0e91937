import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A self-signed wildcard certificate as an administrator would place it: `wildcard.pem` and `wildcard.key`. */
export async function makeWildcard(zone: string, folder: string): Promise<void> {
  const files = ['-keyout', join(folder, 'wildcard.key'), '-out', join(folder, 'wildcard.pem')]
  const subject = ['-subj', '/CN=bench', '-days', '30', '-addext', `subjectAltName=DNS:*.${zone}`]
  await run('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    ...files,
    ...subject,
  ])
}
