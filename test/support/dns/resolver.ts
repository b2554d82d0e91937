import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../lab/free-port.ts'
import { findProgram } from '../../../lab/program.ts'
import { tempFolder } from '../temp-folder.ts'
import { startZoneHost } from './served-zone.ts'

export interface Resolver {
  readonly address: string
  readonly port: number
  stop(): Promise<void>
}

/** A real BIND as a resolver. It serves the root and `test` itself, so that no query leaves the machine. */
export async function startResolver(recordsOfTest: readonly string[]): Promise<Resolver> {
  const folder = tempFolder()
  const port = await freePort()
  const soa = ['$TTL 60', '@ IN SOA ns.invalid. hostmaster.invalid. 1 3600 600 86400 5', '@ IN NS ns.invalid.']
  const at = (file: string) => join(folder.path, file)
  writeFileSync(at('root.zone'), `${soa.join('\n')}\ntest. NS ns.invalid.\nns.invalid. A 127.0.0.1\n`)
  writeFileSync(at('test.zone'), `${[...soa, ...recordsOfTest].join('\n')}\n`)
  writeFileSync(at('named.conf'), configuration(folder.path, port))
  const { stop } = await startZoneHost(folder, port, 'test', {
    name: 'BIND (resolver)',
    program: findProgram('named', 'bind9'),
    args: ['-c', at('named.conf'), '-g', '-n', '1'],
  })
  return { address: '127.0.0.1', port, stop }
}

const configuration = (folder: string, port: number): string => `options {
  directory "${folder}"; pid-file "${folder}/named.pid"; session-keyfile "${folder}/session.key"; managed-keys-directory "${folder}";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; recursion yes; dnssec-validation no;
};
controls { };
zone "." { type master; file "root.zone"; };
zone "test" { type master; file "test.zone"; };
`
