import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { tempFolder } from '../temp-folder.ts'

const run = promisify(execFile)

export interface CertificateWish {
  readonly certificate: string
  readonly key: string
  /** In openssl's form: `DNS:app.lab.test`, `IP:127.0.0.1`. Without names, the certificate has only a common name. */
  readonly names: readonly string[]
  readonly commonName?: string
  readonly days?: number
  readonly extensions?: readonly string[]
  readonly newKey?: readonly string[]
}

const P256 = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']

/** Writes a self-signed certificate and its key to two files. */
export async function makeCertificate(wish: CertificateWish): Promise<void> {
  const { certificate, key, names, commonName = 'drawbridge test', days = 30, extensions = [], newKey = P256 } = wish
  const alternatives = names.length > 0 ? [`subjectAltName=${names.join(',')}`] : []
  const added = [...alternatives, ...extensions].flatMap((extension) => ['-addext', extension])
  const files = ['-keyout', key, '-out', certificate]
  const subject = ['-subj', `/CN=${commonName}`, '-days', String(days)]
  await run('openssl', ['req', '-x509', '-newkey', ...newKey, '-nodes', ...files, ...subject, ...added])
}

/** Encrypts the key with a passphrase. */
export async function encryptKey(key: string, encrypted: string, traditional = false): Promise<void> {
  const form = traditional ? ['ec', '-aes256'] : ['pkcs8', '-topk8']
  await run('openssl', [...form, '-in', key, '-out', encrypted, '-passout', 'pass:secret'])
}

/** An expired self-signed certificate. */
export const makeExpiredCertificate = (wish: CertificateWish): Promise<void> =>
  makeAgedCertificate(wish, new Date('2024-01-01T00:00:00Z'), new Date('2024-04-01T00:00:00Z'))

/** A self-signed certificate with these dates: only `openssl ca` can set them. */
export async function makeAgedCertificate(
  { certificate, key, names }: CertificateWish,
  begins: Date,
  ends: Date,
): Promise<void> {
  using folder = tempFolder()
  const at = (name: string) => join(folder.path, name)
  writeFileSync(at('index'), '')
  writeFileSync(at('extensions'), `subjectAltName=${names.join(',')}\n`)
  writeFileSync(
    at('config'),
    `[ca]\ndefault_ca=own\n[own]\ndatabase=${at('index')}\nnew_certs_dir=${folder.path}\nrand_serial=yes\ndefault_md=sha256\npolicy=any\n[any]\ncommonName=supplied\n`,
  )
  const request = ['-out', at('request'), '-subj', '/CN=expired']
  await run('openssl', ['req', '-new', '-newkey', ...P256, '-nodes', '-keyout', key, ...request])
  const time = (at: Date) => `${at.toISOString().replaceAll(/[-:T]|\..*/g, '')}Z`
  const life = ['-startdate', time(begins), '-enddate', time(ends)]
  const files = ['-config', at('config'), '-keyfile', key, '-in', at('request'), '-extfile', at('extensions')]
  await run('openssl', ['ca', '-batch', '-selfsign', '-notext', ...files, ...life, '-out', certificate])
}
