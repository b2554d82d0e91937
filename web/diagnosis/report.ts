import type { Diagnosis } from '../api/diagnosis.ts'

export interface Fact {
  readonly name: string
  readonly value: string | null
}

const FILE_WORDS: Record<Diagnosis['file'], string> = {
  unchanged: 'unchanged since it was applied',
  edited: 'edited since it was applied',
  missing: 'gone',
  not_ours: 'unmanaged',
  unknown: 'not known: nothing was applied yet',
}

export function factsOf({ configPath, configLine, listen, proxyPass, server, file }: Diagnosis): readonly Fact[] {
  return [
    { name: 'Configuration', value: configPath && (configLine === null ? configPath : `${configPath}:${configLine}`) },
    { name: 'File', value: FILE_WORDS[file] },
    { name: 'listen', value: listen.length === 0 ? null : listen.map(listenText).join(', ') },
    { name: 'proxy_pass', value: proxyPass },
    { name: 'Target server', value: server },
  ]
}

function listenText({ address, port, tls, defaultServer }: Diagnosis['listen'][number]): string {
  const place = [address ?? '…', port].filter((part) => part !== null).join(':')
  return `${place}${tls ? ' ssl' : ''}${defaultServer ? ' default_server' : ''}`
}

/** The whole diagnosis as text, to paste into a message. */
export function reportOf(diagnosis: Diagnosis): string {
  const { host, badge, cause, chain, checkedAt } = diagnosis
  const links = chain.map(({ link, ok, detail }) => `${ok === null ? '-' : ok ? 'ok' : 'BROKEN'}  ${link}: ${detail}`)
  const facts = factsOf(diagnosis).map(({ name, value }) => `${name}: ${value ?? 'not known'}`)
  return [`${host}  ${badge}  (${checkedAt})`, cause.sentence, cause.advice, '', ...links, '', ...facts, ''].join('\n')
}
