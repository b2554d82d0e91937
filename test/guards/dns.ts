import type { Guard } from './guard.ts'

const TSIG = 'src/dns/tsig.ts'
const RFC2136 = 'src/dns/rfc2136.ts'
const STEPS = 'src/runs/steps/dns.ts'
const TSIG_TEST = 'test/unit/dns/dns-tsig.test.ts'
const SENT_TEST = 'test/integration/dns/dns-sent-update.test.ts'
const STEPS_TEST = 'test/unit/runs/dns-steps.test.ts'

/** A record is written only where nobody else has one, and nothing counts that was not proven. */
export const DNS_GUARDS: readonly Guard[] = [
  {
    name: 'an answer that is not signed is not success',
    file: 'src/dns/update-verdict.ts',
    from: "if (authenticity.kind === 'unproven') {",
    to: "if (authenticity.kind === 'unproven') return { rcode: message.rcode, serverSeconds: seconds }\n  if (authenticity.kind === 'unproven') {",
    breaks: 'Anybody on the way could make an update count that was never made.',
    test: TSIG_TEST,
  },
  {
    name: 'an answer has to belong to the update',
    file: 'src/dns/update-verdict.ts',
    from: 'if (!message || !answers(message, sent)) return',
    to: 'if (!message) return',
    breaks: 'The answer of another request would be taken for that of the update.',
    test: TSIG_TEST,
  },
  {
    name: 'the signature of an answer is compared',
    file: TSIG,
    from: 'tsig.mac.length !== expected.length || !timingSafeEqual(tsig.mac, expected)',
    to: 'tsig.mac.length !== expected.length',
    breaks: 'A forged answer would count.',
    test: TSIG_TEST,
  },
  {
    name: 'an answer of another time is not believed',
    file: TSIG,
    from: "  if (Math.abs(seconds - tsig.time) > tsig.fudge) return unproven('was signed at another time')\n",
    to: '',
    breaks: 'An old answer could be played again.',
    test: TSIG_TEST,
  },
  {
    name: 'a name is claimed only where it is not in use',
    file: RFC2136,
    from: 'prerequisites: names.map(nameNotInUse)',
    to: 'prerequisites: []',
    breaks: 'A record that somebody else made after the plan would get ours beside it.',
    test: SENT_TEST,
  },
  {
    name: 'records are removed only as they were written',
    file: RFC2136,
    from: 'prerequisites: records.map(rrsetIs)',
    to: 'prerequisites: []',
    breaks: 'A record that somebody else changed would be removed.',
    test: SENT_TEST,
  },
  {
    name: 'a name in use is a refusal',
    file: STEPS,
    from: "      if (outcome === 'created') return before\n",
    to: '      if (outcome) return before\n',
    breaks: 'A host would be told to be on the air under the record of somebody else.',
    test: STEPS_TEST,
  },
  {
    name: 'after an unknown outcome only a reading decides',
    file: STEPS,
    from: "      if (held === 'yes') return before\n",
    to: '      if (held) return before\n',
    breaks: 'An update whose answer was lost would count as made.',
    test: STEPS_TEST,
  },
  {
    name: 'an apply writes no id of a plan into DNS',
    file: 'src/runs/marks.ts',
    from: 'marksPlan(record) ? { ...record, value: markFor(plan) } : record',
    to: 'record',
    breaks: 'Everybody could read the id that opens a plan of an earlier version.',
    test: 'test/unit/runs/marks.test.ts',
  },
  {
    name: 'a claim is undone as its journal says',
    file: STEPS,
    from: 'undo: (before) => withdraw(createdOf(before), parts)',
    to: 'undo: () => withdraw(createdOf({ records }), parts)',
    breaks: 'A run that an earlier version began could not be undone, and its host would be blocked.',
    test: STEPS_TEST,
  },
  {
    name: 'records that the plan keeps have to be there',
    file: STEPS,
    from: "if (kept.length > 0 && (await readUntilCertain(kept, parts)) !== 'yes')",
    to: 'if (false)',
    breaks: 'An adoption would go on although the records were changed since its plan.',
    test: STEPS_TEST,
  },
  {
    name: 'records that somebody changed are not removed',
    file: STEPS,
    from: "  if (held === 'partly') throw changedByOthers(records)\n",
    to: '',
    breaks: 'A removal would send an update for records that are not ours any more.',
    test: STEPS_TEST,
  },
  {
    name: 'without a certain answer no record is removed',
    file: STEPS,
    from: "  if (held === 'unknown') {\n",
    to: '  if (false) {\n',
    breaks: 'A removal would act on what it could not read.',
    test: STEPS_TEST,
  },
  {
    name: 'a removal is read back',
    file: STEPS,
    from: "  if (still !== 'no')\n",
    to: '  if (false)\n',
    breaks: 'A name would lead to an edge that does not serve it any more.',
    test: STEPS_TEST,
  },
  {
    name: 'a repair does not overwrite records of others',
    file: STEPS,
    from: 'if (foreign(found).length > 0 && !overwrite)',
    to: 'if (false)',
    breaks: 'A repair would overwrite records that somebody changed on purpose.',
    test: STEPS_TEST,
  },
  {
    name: 'only an authoritative answer is believed',
    file: 'src/dns/read-back.ts',
    from: "outcome.kind === 'no_answer' || !outcome.authoritative",
    to: "outcome.kind === 'no_answer'",
    breaks: 'A cache would decide whether a record stands.',
    test: 'test/unit/dns/read-sets.test.ts',
  },
]
