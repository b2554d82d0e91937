import type { Config } from '../../config/config.ts'
import type { Machine } from '../machine.ts'
import type { ArgsOf, OperationName, ResultOf } from './operations.ts'

type Operate = <Name extends OperationName>(name: Name, args: ArgsOf<Name>) => Promise<ResultOf<Name>>

/** Gives `work` a way to let the running service act. Without a service the command acts itself. */
export async function withOperations<T>(
  config: Config,
  machine: Pick<Machine, 'withParts'>,
  work: (operate: Operate) => Promise<T>,
): Promise<T> {
  const { askForOperation, isServed } = await import('./client.ts')
  const { stateDir } = config
  if (await isServed(stateDir)) return work((name, args) => askForOperation(stateDir, name, args))
  return machine.withParts(config, async (parts) => {
    const { perform } = await import('./operations.ts')
    const operate: Operate = async <Name extends OperationName>(name: Name, args: ArgsOf<Name>) =>
      (await perform(name, args, parts)) as ResultOf<Name>
    return work(operate)
  })
}
