import type { JournalEntry, Run, RunState } from '../../model/run.ts'

/** How far a run has come: its state and the number of its journal entries. */
export type RunProgress = Pick<Run, 'runId' | 'planId' | 'state'> & { readonly entries: number }

/**
 * The caller lost the lease of the run, and another instance continues it. Nothing was written. The caller must stop.
 */
export class StaleFence extends Error {
  constructor(runId: string, shown: number, present: number) {
    super(`Run ${runId} continues under fence ${present}. Nothing was written under the older fence ${shown}.`)
  }
}

/** Runs and their journals. */
export interface RunStore {
  /** Rejects when the run exists, when its plan does not exist, or while another run of the same host is unfinished. */
  insertRun(run: Run): Promise<void>
  findRun(runId: string): Promise<Run | undefined>
  /** All runs of a plan, oldest first. */
  runsOf(planId: string): Promise<Run[]>
  /** All runs that were begun for this host, oldest first. */
  runsOfHost(host: string): Promise<Run[]>
  /** The progress of the newest run of each plan, read with one statement for all plans. */
  newestRuns(planIds: readonly string[]): Promise<RunProgress[]>
  /** All runs that are still running, oldest first. */
  unfinishedRuns(): Promise<Run[]>
  /** The applies that were rolled back at this time or later, oldest first. */
  rolledBackApplies(since: number): Promise<Run[]>
  /**
   * All runs that are still running, and those of all plans that are being applied or removed or are blocked. Their
   * backups may still be needed for an undo.
   */
  unsettledRunIds(): Promise<string[]>
  /**
   * Gives a run that its holder abandoned to another instance, under a higher fence. False when the run has ended, when it was adopted
   * since it was `read`, or when its fence is not lower. So what was read of it is true under the new fence, too.
   */
  adoptRun(read: Pick<Run, 'runId' | 'fence'>, holder: string, fence: number): Promise<boolean>
  /**
   * Ends a run. False when the run had ended before. Rejects with StaleFence when `fence` is older than the fence of
   * the run.
   */
  finishRun(runId: string, state: Exclude<RunState, 'running'>, at: number, fence: number): Promise<boolean>
  /**
   * Appends one entry and resolves with its sequence number. Outside a transaction the entry is durable when this
   * resolves. Concurrent calls leave no gaps. Rejects when the run does not exist, and with StaleFence when `fence` is
   * older than the fence of the run; a rejection rolls back the caller's transaction.
   */
  appendJournal(entry: Omit<JournalEntry, 'seq'>, fence: number): Promise<JournalEntry>
  /** Entries with `seq` > `afterSeq`, oldest first. */
  readJournal(runId: string, afterSeq: number): Promise<JournalEntry[]>
}
