import type { Cuts } from './cuts.ts'

/** A record is written only where nobody else has one, and nothing counts that was not proven. */
export const DNS_GUARDS: Cuts = {
  'an answer that is not signed is not success': [
    "if (authenticity.kind === 'unproven') {",
    "if (authenticity.kind === 'unproven') return { rcode: message.rcode, serverSeconds: seconds }\n  if (authenticity.kind === 'unproven') {",
  ],
  'an answer has to belong to the update': ['if (!message || !answers(message, sent)) return', 'if (!message) return'],
  'the signature of an answer is compared': [
    'tsig.mac.length !== expected.length || !timingSafeEqual(tsig.mac, expected)',
    'tsig.mac.length !== expected.length',
  ],
  'an answer of another time is not believed': [
    'if (tsig.error !== BADTIME && Math.abs(seconds - tsig.time) > tsig.fudge)',
    'if (false)',
  ],
  'a name is claimed only where it is not in use': ['prerequisites: names.map(nameNotInUse)', 'prerequisites: []'],
  'records are removed only as they were written': ['prerequisites: records.map(rrsetIs)', 'prerequisites: []'],
  'a name in use is a refusal': [
    "      if (outcome === 'created') return after\n",
    '      if (outcome) return after\n',
  ],
  'after an unknown outcome only a reading decides': [
    "      if (held === 'yes') return after\n",
    '      if (held) return after\n',
  ],
  'an apply writes no id of a plan into DNS': [
    'marksPlan(record) ? { ...record, value: markFor(plan) } : record',
    'record',
  ],
  'a claim is undone as its journal says': [
    'await withdraw(createdOf(before), updates, parts)',
    'await withdraw(createdOf({ records }), updates, parts)',
  ],
  'records that the plan keeps have to be there': [
    "if (kept.length > 0 && (await readUntilCertain(kept, parts)) !== 'yes')",
    'if (false)',
  ],
  'records that somebody changed are not removed': "  if (held === 'partly') throw changedByOthers(records)\n",
  'without a certain answer no record is removed': [
    "  if (held === 'unknown') throw noCertainAnswer(",
    '  if (false) throw noCertainAnswer(',
  ],
  'a removal is read back': ["  if (still === 'no') return\n", '  if (still) return\n'],
  'a repair does not overwrite records of others': ['if (foreign(found).length > 0 && !overwrite)', 'if (false)'],
  'after an unknown outcome nothing is read before the update can be made no more':
    '      await this.#settle(validUntil, error.message)\n',
  'recovery waits for the updates of the process before it': [
    "if (open.length > 0) await this.#settle(Math.max(...open), 'An earlier attempt sent an update.')",
    "if (open.length > 1000) await this.#settle(Math.max(...open), 'An earlier attempt sent an update.')",
  ],
  'the end of a signature is journalled before the update is sent': [
    '    await signing?.(time + fudge)\n',
    '    void signing?.(time + fudge).catch(() => undefined)\n',
  ],
  "the end of a signature is read from the server's clock": [
    '      if (isSentAfterwards) return\n',
    '      if (isSentAfterwards || answer) return\n',
  ],
  'a stalled server is sent no update': '    await this.#assertAccess()\n',
  'late records are removed only as the journal has them': [
    "|| (await readBack(zone, records, signal)) !== 'yes') return 'none'",
    ") return 'none'",
  ],
  'late records of a host with an exposure stay': "    if (await store.findExposure(host)) return 'none'\n",
  'a proof that was refused is not withdrawn': [
    'if (isRefused(error) && set.delete(key)) await noteAll()',
    'if (false) await noteAll()',
  ],
  'only an authoritative answer is believed': [
    "outcome.kind === 'no_answer' || !outcome.authoritative",
    "outcome.kind === 'no_answer'",
  ],
}
