import type { Cuts } from './cuts.ts'

/** The direction of a run, its journal, its beginning, its end and its recovery. */
export const RUN_GUARDS: Cuts = {
  'the intent of a step is written before its effect': "    await this.#intend(step, 'intent', before)\n",
  'after its verdict a run does not go back': '        if (this.#isDecided() && !isFenced(fault)) throw fault\n',
  'an attempt before a crash may have changed something': [
    'isFirst && fault instanceof StepFault && fault.untouched',
    'fault instanceof StepFault && fault.untouched',
  ],
  'a lost lease, a stale fence and an overdue step stop a run where it is':
    '    if (FOR_RECOVERY.some((kind) => fault instanceof kind)) throw fault\n',
  'a step that hangs is left to recovery': ['LeaseLost, Undecided, Overdue]', 'LeaseLost, Undecided]'],
  'an unconfirmed verdict decides nothing': [
    'throw error instanceof StoreUnavailable ? new Undecided(error) : error',
    'throw error',
  ],
  'the way back stops at the first step that cannot be undone': "        return { kind: 'blocked', rollback }\n",
  'a removal turns back only when the journal says so': [
    'await (this.#backByDefault ? tolerating(write) : write())',
    'await tolerating(write)',
  ],
  'a transient fault does not turn a recovered run back': '    throw new RetryLater(step.name, fault)\n',
  'a run with a verdict goes forward after a crash': ['return decided || (!STEPS_OF', 'return (!STEPS_OF'],
  'a removal that turned back goes back after a crash': [".includes('verify') && !goingBack)", ".includes('verify'))"],
  'nothing is journalled without the lease': '    await ensureHeld()\n',
  'entries of the journal that belong together are written together': [
    'await this.#journal.writeAll(intent ? [done, intent] : [done])',
    'await this.#journal.writeAll([done])\n    if (intent) await this.#journal.writeAll([intent])',
  ],
  'a run that cannot claim its host does not begin': [
    '  if (!(await session.claimExposure(host, holder, runId, fence))) throw await claimed(host, session)\n',
    '  await session.claimExposure(host, holder, runId, fence)\n',
  ],
  'a host that another plan exposes is not applied over': [
    "if (await session.insertExposure({ host, planId, state: 'applying', fence, since: at, runId })) return",
    "await session.insertExposure({ host, planId, state: 'applying', fence, since: at, runId })\n    return",
  ],
  'a plan is changed only from a state that allows it': ["  remove: ['applied'],", '  remove: PLAN_STATES,'],
  'recovery leaves a run alone that has just begun': ' && !hasJustBegun(run)',
  'recovery finishes a run that began before the clock was set back': ' && startedAt <= latest',
  'a run that nobody takes up ends although the clock was set back': ' || -ageMs > OPEN_MS + runs.leaseMs',
  'recovery takes a run only with all its leases': ' || leases.length <= further.size',
  'recovery raises the fences before it trusts an edge': [
    'await raiseFences(guard.fences).then(',
    'await Promise.resolve().then(',
  ],
  'the verification of a renewal has time for each of its hosts': [
    'new StepLimit(clock, Math.max(1, leases.length))',
    'new StepLimit(clock)',
  ],
  'one process takes up a run once': '    if (this.isUnderWay(runId) || this.#taking.has(runId)) return undefined\n',
  'a run for another instance is only taken up where its edge is reached': '    if (!isLate && !reaches) return\n',
  'a plan that is not blocked is not resolved': [
    "if (plan?.state === 'blocked' && run?.state === 'blocked' && !isUnderWay) return run",
    'if (run) return run',
  ],
  'a blocked run is taken over only if it is still blocked under its lease': [
    "if (plan?.state === 'blocked' && (claimedBy ?? taken.run.runId) === taken.run.runId) return taken",
    'if (plan || claimedBy) return taken',
  ],
  'a decision ends only the blocked run that it was made for':
    '    if (still.runId !== blocked.runId) throw resolvedMeanwhile(planId)\n',
  'the end of a run is stored once': [
    'if (!(await session.finishRun(runId, ending.run, at, fence))) return undefined',
    'await session.finishRun(runId, ending.run, at, fence)',
  ],
  'a blocked run keeps its hosts': "      if (ending.run !== 'blocked')\n",
  'a write that the disk has refused is told':
    "  if (LOSSES.includes(error.code ?? '')) onLost({ path, reason: error.code ?? '' })\n",
  'a process whose writes are lost ends': '    kill()\n',
}
