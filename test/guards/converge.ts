import type { Cuts } from './cuts.ts'

/** What the service does by itself: nothing that a person would have to decide, and nothing too early. */
export const CONVERGE_GUARDS: Cuts = {
  'a doubtful removal of many hosts needs a person': [
    'const isTooMuch = doubtful.length > limit',
    'const isTooMuch = doubtful.length > limit && false',
  ],
  'hosts that the store does not know stay on the edge': [
    '      if (!plan) unknown.push(host)\n',
    '      if (!plan) ended.push({ host, planId })\n',
  ],
  'a host whose removal nobody has seen is doubtful': [
    '(seen.has(host) && (await this.#isRemoved(host)) ? orphans : doubtful)',
    '((await this.#isRemoved(host)) ? orphans : doubtful)',
  ],
  'the newest run that decides about a host tells whether it is gone': [
    '.findLast(({ action }) => DECIDES',
    '.find(({ action }) => DECIDES',
  ],
  'no run of converge grows with the number of hosts': ['all.slice(from, from + mostHosts)', 'all'],
  'old converges go although their plan is live': '    await pruneConverges(transaction, limits)\n',
  'a host that an edge has refused waits before the next run': ['this.#clock.monotonic() >= this.#until', 'true'],
  'a refused host is tried at once when another plan has it': [
    'if (wishes.get(host) !== wish) this',
    'if (!wishes.has(host)) this',
  ],
  'fences of another store prove no removal': ['fences.filter((fence) => fence.epoch === epoch)', 'fences'],
  'an edited entry on the Secondary is not behind': [
    '  if (isEdited) return',
    "  if (isEdited && entry.plan === '') return",
  ],
  'a host that a run changes is left to the run': ["state === 'applied' && runId === undefined", "state === 'applied'"],
  'a Secondary that is away is waited for': [
    'throw doesNotAnswer(edge, answer.reason)',
    'return void doesNotAnswer(edge, answer.reason)',
  ],
  'a run begins nothing at a stopped nginx': ['if (await isStopped(edge)) throw', 'if (false) throw'],
  'what stands at a stopped nginx counts as put back': [
    '(await serves(edge, plan)) || isStopped(edge)',
    'serves(edge, plan)',
  ],
  'an accept whose reload cannot be proven counts as put back where its host is served': [
    'isRestored: (edge) => isAsApplied(edge, plan),\n    wishes: async (edge) => {\n      const listed = await hostOn(edge, host)\n      if (listed.rev',
    'wishes: async (edge) => {\n      const listed = await hostOn(edge, host)\n      if (listed.rev',
  ],
  'a repair in whose middle nginx stops counts as put back': [
    'return (revision === null || drift.length > 0) && isStopped(edge)',
    'return false',
  ],
  'an apply at an edge whose disk is full counts as put back where nothing of it stands': "  'write_failed',\n",
  'another program at the address of an edge is not taken for nginx': [
    "  throw new EdgeFault('unavailable', `The default server",
    "  if (false) throw new EdgeFault('unavailable', `The default server",
  ],
  'unused pairs stay while a run may need them again': [
    'const needed = unsettledRuns(folder).flatMap(({ run }) => generationBefore(folder, run) ?? [])',
    'const needed: number[] = []',
  ],
  'what a generation uses that was entered meanwhile is no unused pair': [
    'if (present.number === begunAt) pairs',
    'pairs',
  ],
  'a converge removes only what it was told to': ['!exposed.has(host) && removes.includes(host)', '!exposed.has(host)'],
  'a converge removes only the plan that it was told': ['entry?.plan === removedPlans[host]', 'true'],
  'a converge takes off no host that has an exposure again': [
    'if (!further || further === lease || !(await session.findExposure(orphan))) continue',
    'if (true) continue',
  ],
  'what is newer than the store is left': [
    'fence.epoch > epoch || fence.number > (number',
    'fence.epoch > epoch || 0 > (number',
  ],
  'what an edge has otherwise than a rebuilt store waits': '    if (why) return { why, edge: server, isNewer }\n',
  'a failed run of a restored store makes nothing older than it': [
    "run.fence === number && run.state !== 'succeeded'",
    'run.fence === 0',
  ],
  'nothing is confirmed while an edge cannot be read': ['if (!list) return nothingRead(server)', 'if (!list) continue'],
  'nothing is confirmed while its zone does not answer': [
    "    if (held === 'yes') return undefined",
    "    if (held !== 'no') return undefined",
  ],
  'what the zone has otherwise than the store waits': ["'unanswered' : 'records'", "'unanswered' : undefined"],
  'a rebuilt store goes on with the numbers of the edges':
    '  await session.raiseLastFences([hostLease(host)], number)\n',
  'a rebuild takes over no number that leaves no higher one': ['Math.min(number, HIGHEST_TAKEN_OVER)', 'number'],
  'a rebuild takes over no number of another store': [' && (of === undefined || of === store) ?', ' ?'],
  'the Primary tells which store was lost': ['.find((list) => list.length > 0) ?? []', '.flat()'],
  'a store that has hosts looks for its own epoch': [
    ' && (known === undefined || store === undefined || store === known)',
    '',
  ],
  'a restored store begins unconfirmed': [
    "updateTable('exposures').set({ unconfirmed: 'edges' })",
    "updateTable('exposures').set({ unconfirmed: null })",
  ],
  'a restored store is committed with its marks': [
    'await beginReconcile(writing, now)\n',
    'await beginReconcile(writing, now).catch(() => undefined)\n',
  ],
  'a restore that failed can be repeated': ['    if (present !== releasedVersion(schema)) await', '    await'],
  'a store is called empty only after a look': [
    "await remainsIn(engine, 'It', content.schema)",
    "'It is still empty.'",
  ],
  'a copy that is committed is told': ['report ?? Promise.reject(error)', 'Promise.reject(error)'],
  'the numbers of events jump after a restore': ["eb('events', '+', EVENTS_AHEAD)", "eb('events', '+', 0)"],
  'an end that is not confirmed is not due': "      .where('unconfirmed', 'is', null)\n",
  'an exposure is due only after its end': [
    "'applied')\n      .where('expires_at', '<=', n",
    "'applied')\n      .where('expires_at', '!=', n",
  ],
  'only an applied exposure is due': [
    "      .selectAll()\n      .where('state', '=', 'applied')\n",
    '      .selectAll()\n',
  ],
  'an end is never set earlier': "      .where('expires_at', '<=', expiresAt)\n",
  'an extend wins against the expiry': ['throw new Prolonged()', 'return begun'],
  'a removal that is under way is not begun again': [
    '!this.#underWay.has(planId) && this.#isReady(planId)',
    'this.#isReady(planId)',
  ],
  'a removal that failed is tried again': [
    "(await started.result).outcome.kind === 'succeeded' ? 'removed' : 'failed'",
    "(await started.result) ? 'removed' : 'failed'",
  ],
  'a failed removal is tried again by the monotonic clock': [
    'this.#parts.clock.monotonic() >=',
    'this.#parts.clock.now() >=',
  ],
  'a look of the expiry begins a bounded number of removals': [
    'next.slice(0, Math.max(0, AT_ONCE - this.#underWay.size))',
    'next',
  ],
  'an end is enforced at the time of the name server': ['CHANGE_FUDGE = 6\n', 'CHANGE_FUDGE = 60\n'],
}
