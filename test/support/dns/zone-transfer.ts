import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { findProgram } from '../../../lab/program.ts'
import type { TestLab } from '../lab/lab.ts'

const run = promisify(execFile)

export interface TransferredRecord {
  readonly name: string
  readonly ttl: string
  readonly type: string
  /** As dig prints it. */
  readonly value: string
}

/** All records of the lab's primary, sorted, without the SOA, whose serial grows with every change. */
export async function zoneRecords({
  description,
}: {
  readonly description: Pick<TestLab['description'], 'dns' | 'zone'>
}): Promise<TransferredRecord[]> {
  const { dns, zone } = description
  const { address, port } = dns.primary
  const key = `${dns.tsig.algorithm}:${dns.tsig.name}:${readFileSync(dns.tsig.secretFile, 'utf8')}`
  const asked = [`@${address}`, '-p', String(port), '-y', key, zone, 'AXFR', '+noall', '+answer', '+onesoa']
  const { stdout } = await run(findProgram('dig', 'bind9-dnsutils'), asked)
  const records = stdout
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(';'))
    .map(parseLine)
  if (!records.some(({ type }) => type === 'NS')) throw new Error(`The zone was not transferred: ${stdout}`)
  return records.filter(({ type }) => type !== 'SOA').toSorted((a, b) => textOf(a).localeCompare(textOf(b)))
}

function parseLine(line: string): TransferredRecord {
  const [, owner = '', ttl = '', type = '', value = ''] = /^(\S+)\s+(\d+)\s+IN\s+(\S+)\s+(.*)$/.exec(line) ?? []
  return { name: owner.replace(/\.$/, ''), ttl, type, value }
}

const textOf = ({ name, ttl, type, value }: TransferredRecord): string => [name, type, value, ttl].join(' ')
