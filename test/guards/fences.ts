import type { Cuts } from './cuts.ts'

/** What an older run sends is refused: by the store and by the edges. For DNS the signature ends with the lease, see leases.ts. */
export const FENCE_GUARDS: Cuts = {
  'the store lets only a higher fence adopt a run': "      .where('fence', '<', fence)\n",
  'the store lets a run be adopted only as it was read': "      .where('fence', '=', read.fence)\n",
  'the store ends a run only under its newest fence': [
    "      .where('fence', '<=', fence)\n      .executeTakeFirst()\n    if (numUpdatedRows === 0n)",
    '      .executeTakeFirst()\n    if (numUpdatedRows === 0n)',
  ],
  'the journal takes entries only under the newest fence': [
    "    .where('fence', '<=', fence)\n    .returning('entries as seq')",
    "    .returning('entries as seq')",
  ],
  'the runs of a plan are told in the order of their fences': [
    "selectFrom('runs').selectAll().orderBy('fence')",
    "selectFrom('runs').selectAll().orderBy('started_at')",
  ],
  'an exposure is claimed only by one run': "      .where('run_id', 'is', null)\n",
  'an exposure moves only under its newest fence': [
    "      .set({ state: to, fence, since })\n      .where('host', '=', host)\n      .where('plan_id', '=', planId)\n      .where('fence', '<=', fence)\n",
    "      .set({ state: to, fence, since })\n      .where('host', '=', host)\n      .where('plan_id', '=', planId)\n",
  ],
  'an exposure is deleted only for its own plan': [
    "      .deleteFrom('exposures')\n      .where('host', '=', host)\n      .where('plan_id', '=', planId)\n",
    "      .deleteFrom('exposures')\n      .where('host', '=', host)\n",
  ],
  'a lease that lives is not taken': ["eb('leases.holder', 'is', null),", 'eb.lit(true),'],
  'each lease has a higher fence than the one before': [
    "fence: eb('leases.fence', '+', 1)",
    "fence: eb('leases.fence', '+', 0)",
  ],
  'a lease is released only by its holder': "eb('fence', '=', fence), ",
  'a lease is renewed only under its fence': "eb('fence', '=', fence), ",
  'an edge refuses an older fence': [
    "      if (refusal !== undefined) throw new EdgeFault('fenced', refusal)\n    }\n  }",
    '    }\n  }',
  ],
  'an edge takes no number that leaves no higher one': ['isNumber(number, HIGHEST_NUMBER)', 'isNumber(number)'],
  'a number that an earlier version took is read as the highest': [
    'Math.min(Number(number), HIGHEST_NUMBER)',
    'Number(number)',
  ],
  'a list with a number that no run has is not believed': [
    'maximum: HIGHEST_NUMBER',
    'maximum: Number.MAX_SAFE_INTEGER',
  ],
  'a later epoch stands above every number': [
    'one.epoch < other.epoch || (one.epoch === other.epoch && one.number < other.number)',
    'one.number < other.number',
  ],
  'an edge takes nothing below the floor of a store':
    '    if (this.#isBelowFloor(fence)) return formerStore(fence.host)\n',
  'a store touches no host of another one':
    '    if (known && this.#isOfAnother(fence, known)) return otherStore(fence, this.#storeOf(known))\n',
  'the first store that claims a host has it': '    if (this.#isOfAnother(fence, known)) return\n',
  'floors are written when the fences are written anew':
    "      ...floors.map((floor) => ({ kind: 'floor', floor }) as const),\n",
  'a service shows its store to an edge before it works with it': [
    'edge.change({ items: [], floor: { store: await store.storeId(), epoch: await store.epoch() } })',
    'Promise.resolve([])',
  ],
  'a removal asks the edge before it takes the name': [
    "items: guard.fences.map((fence) => ({ host: fence.host, fence, expected: 'any', wanted: 'same' })),",
    'items: [],',
  ],
  'a run that another store has fenced ends': '          if (isFenced(fault)) return { fault }\n',
  'a fenced run asks the store for its lease before it turns back': [
    '    if (isFenced(fault)) return this.#parts.confirmHeld()\n',
    '    if (isFenced(fault)) return\n',
  ],
  'a claim is checked again after it was written': [
    'const missing = await this.#missingOf(fences)',
    'const missing = appends === 0 ? await this.#missingOf(fences) : []',
  ],
  'the fences of an edge are not read through a link': '    if (!isFile) throw notRegularFile(FENCES)\n',
  'a claim that is made while the file of fences is written anew stays': ['|| now.size !== size) return', ') return'],
  'what stood before an unsettled run is kept': [
    'if (isNeeded && forRuns.length < MOST_FOR_RUNS) {',
    'if (isNeeded && forRuns.length < 0) {',
  ],
  'a former store settles no run of the restored one': [
    '    if (floor) await fences.raiseFloor(floor)\n',
    '    if (floor && settles.length === 0) await fences.raiseFloor(floor)\n',
  ],
  'no run is noted while others are settled': [
    'await this.alone(() => settleRuns(folder, settles, settler))',
    'await settleRuns(folder, settles, settler)',
  ],
  'a service settles no run of another store': '.filter((run) => run.store === id)',
  'a change asks for newer runs directly before the swap':
    '      this.#parts.fences.claim(fencesOf(work)).assertNewest()\n',
  'a change records its fence before the swap': 'fences.claim(all.flatMap(fencesOf)).record(), ',
  'a change that is overtaken leaves the others of its generation': [
    'if (isFenced(error)) return newest()',
    'if (isFenced(error)) throw error',
  ],
  'what was staged for a change that is overtaken goes': [
    "if (ready === 'entered') return\n      await tried.staged.discard()\n",
    "if (ready === 'entered') return\n",
  ],
}
