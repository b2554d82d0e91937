import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface CertificateWish {
  readonly certificate: string
  readonly key: string
  /** As openssl writes them: `DNS:app.lab.test`, `IP:127.0.0.1`. None: a certificate with a common name only. */
  readonly names: readonly string[]
  readonly commonName?: string
  readonly days?: number
  readonly extensions?: readonly string[]
  readonly newKey?: readonly string[]
}

const P256 = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']

/** A self-signed certificate and its key, each in its file. */
export async function makeCertificate(wish: CertificateWish): Promise<void> {
  const { certificate, key, names, commonName = 'drawbridge test', days = 30, extensions = [], newKey = P256 } = wish
  const alternatives = names.length > 0 ? [`subjectAltName=${names.join(',')}`] : []
  const added = [...alternatives, ...extensions].flatMap((extension) => ['-addext', extension])
  const files = ['-keyout', key, '-out', certificate]
  const subject = ['-subj', `/CN=${commonName}`, '-days', String(days)]
  await run('openssl', ['req', '-x509', '-newkey', ...newKey, '-nodes', ...files, ...subject, ...added])
}

/** The same key, locked with a passphrase. */
export async function encryptKey(key: string, encrypted: string, traditional = false): Promise<void> {
  const form = traditional ? ['ec', '-aes256'] : ['pkcs8', '-topk8']
  await run('openssl', [...form, '-in', key, '-out', encrypted, '-passout', 'pass:secret'])
}
