import type { Cuts } from './cuts.ts'

/** What a service and an edge agent do not believe of each other. */
export const AGENT_GUARDS: Cuts = {
  'an edge refuses an epoch of the far future': '      assertNotAhead(fence.host, fence.epoch, now)\n',
  'a service believes no epoch of the far future': ['return believedEpoch(one.server, told)', 'return told'],
  'only an accepted certificate of an agent is replaced': [
    '      if (!enrolled.includes(former))\n',
    '      if (enrolled.includes(former) && false)\n',
  ],
  'a join ends the connections of the former authority': '    this.#server?.closeAllConnections()\n',
  'only the authority of the last join is heard': [
    'if (!isIssuedBy(certificate, this.#ca)) ',
    'if (!isIssuedBy(certificate, this.#ca) && false) ',
  ],
  'a certificate that has run out is refused on a kept connection': [
    'if (this.#parts.clock.now() > certificate.validToDate.getTime()) ',
    'if (this.#parts.clock.now() < 0) ',
  ],
  'each authority has editions of its own': ["fingerprint256.replaceAll(':', '').toLowerCase()", 'publicKey.type'],
  'a replaced certificate brings no session tickets': [
    'setSecureContext(contextOf(shown))',
    "setSecureContext({ ...shown, minVersion: 'TLSv1.3' })",
  ],
  'a certificate from the future is replaced at once': 'now < issuedAt(x509) || ',
  'certificates of the authority of agents are backdated': ' - wish.lifeMs / BACKDATED_PARTS',
  'pairs of the store are installed under their own names': '.filter(isOfItsName)',
  'a rebuild keeps only names that cover the host':
    '.filter((name) => isCertificateName(name) && coversHost([name], host))',
  'a host is changed through an agent only under its fence':
    "  if (fence.host !== host) return 'Its fence is that of another host'\n",
  'the words of an agent are quoted': ['quoteText(sentence))', 'sentence)'],
  'the answer of an agent to a change has a bound': [
    '        if (length > mostAnswered(change)) ',
    '        if (length > Number.MAX_VALUE) ',
  ],
  'an agent that gives no verdict on a change has not refused it': [
    '        if (!(error instanceof EdgeFault)) throw error\n',
    "        if (!(error instanceof EdgeFault && error.kind === 'away')) throw error\n",
  ],
  'an answer to a change that is none is no refusal': [
    "verb === 'change' ? 'not_reloaded' : 'unavailable'",
    "'unavailable'",
  ],
  'a refusal does not count for a change that was lost before': [
    "    isInDoubt ||= verdict.state === 'unknown'\n",
    "    isInDoubt ||= verdict.state === 'running'\n",
  ],
  'the service visits configured addresses only': [
    '(isAt(known, listenAddress) ? direct.visit(question) : UNREACHABLE)',
    'direct.visit(question)',
  ],
  'a fence of the far future that stands in the file refuses no run':
    '      if (epochAhead(epochOf(line), this.#now()) !== undefined) return true\n',
  'the end of a certificate that an agent tells is at most 398 days ahead': [
    'Math.min(shown.notAfter, now + LONGEST_LIFE_MS)',
    'shown.notAfter',
  ],
  'the names of a certificate that an agent tells are names': [
    'names: shown.names.filter(isCertificateName)',
    'names: shown.names',
  ],
  'notes of files outside the folder are written one after the other': [
    '    await this.#writes.run(this.#file, () =>\n',
    '    await ((work: () => Promise<void>) => work())(() =>\n',
  ],
  'a backup whose key nobody has is not restored': '  if (!pair) throw keyLost(host, edge.server)\n',
}
