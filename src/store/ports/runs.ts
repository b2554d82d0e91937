import type { JournalEntry, Run, RunState } from '../../model/run.ts'

/** How far a run has come: another one is newer, or its state or the number of its journal's entries has changed. */
export type RunMark = Pick<Run, 'runId' | 'planId' | 'state'> & { readonly entries: number }

/** Somebody who lost the lease still acts for a run that was adopted since. Nothing was written; stop. */
export class StaleFence extends Error {
  constructor(runId: string, shown: number, present: number) {
    super(`run ${runId} goes on under fence ${present}: nothing happens under ${shown} any more`)
  }
}

/** Runs and their journals. */
export interface RunStore {
  /** Rejects while another run of the same host is unfinished. */
  insertRun(run: Run): Promise<void>
  findRun(runId: string): Promise<Run | undefined>
  /** Oldest first. */
  runsOf(planId: string): Promise<Run[]>
  /** How far the newest run of each of these plans has come. One statement, however many they are. */
  newestRuns(planIds: readonly string[]): Promise<RunMark[]>
  /** Oldest first. */
  unfinishedRuns(): Promise<Run[]>
  /** Every run of a plan that is being applied or removed, or is blocked: what they kept may still be put back. */
  unsettledRunIds(): Promise<string[]>
  /** Another instance takes over what its holder left behind. False when it is not running any more, or not under a lower fence. */
  adoptRun(runId: string, holder: string, fence: number): Promise<boolean>
  /** False when it was finished before. Rejects with StaleFence under a fence older than the run's. */
  finishRun(runId: string, state: Exclude<RunState, 'running'>, at: number, fence: number): Promise<boolean>
  /** Durable when it resolves; gives the entry its place. Rejects with StaleFence under a fence older than the run's. */
  appendJournal(entry: Omit<JournalEntry, 'seq'>, fence: number): Promise<JournalEntry>
  /** Entries with `seq` > `afterSeq`, in order. */
  readJournal(runId: string, afterSeq: number): Promise<JournalEntry[]>
}
