import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Writes a self-signed wildcard certificate to `wildcard.pem` and `wildcard.key`, as an administrator would. */
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
