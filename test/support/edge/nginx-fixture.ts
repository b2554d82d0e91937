import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../lab/free-port.ts'
import { findProgram } from '../../../lab/program.ts'
import { runNginx } from '../../../src/nginx/process/nginx-program.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { type NginxFiles, nginxFiles } from './nginx-files.ts'
import { makeCertificate } from './openssl.ts'

const FIXTURES = join(import.meta.dirname, '..', '..', 'fixtures', 'nginx')

export interface Fixture extends NginxFiles {
  readonly http: number
  readonly https: number
}

/** Copies a fixture configuration to a new folder, with free ports and a certificate. */
export async function nginxFixture(style: string, links: Readonly<Record<string, string>> = {}): Promise<Fixture> {
  const [http, https] = [await freePort('0.0.0.0'), await freePort('0.0.0.0')]
  const files = nginxFiles({})
  const values: Record<string, string> = { FOLDER: files.folder, HTTP: String(http), HTTPS: String(https) }
  for (const name of namesUnder(join(FIXTURES, style))) {
    const text = readFileSync(join(FIXTURES, style, name), 'utf8')
    files.write({ [name]: text.replaceAll(/@([A-Z]+)@/g, (_, key: string) => values[key] ?? '') })
  }
  for (const [link, target] of Object.entries(links)) {
    mkdirSync(files.path(join(link, '..')), { recursive: true })
    symlinkSync(target, files.path(link))
  }
  mkdirSync(files.path('tls'))
  await makeCertificate({
    certificate: files.path('tls/fullchain.pem'),
    key: files.path('tls/privkey.pem'),
    names: ['DNS:example.test'],
  })
  return { ...files, http, https }
}

/** The result of `nginx -T`: whether the configuration is valid, and its files in order. */
export async function dumpOf({
  config,
  folder,
}: NginxFiles): Promise<{ code: number; errors: string; files: string[] }> {
  const nginx = { binary: findProgram('nginx', 'nginx'), prefix: folder, clock: systemClock }
  const { code, output, errors } = await runNginx(nginx, '-T', config)
  return { code, errors, files: [...output.matchAll(/^# configuration file (.*):$/gm)].map(([, file = '']) => file) }
}

function namesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  )
}
