import { lifeOf } from './life.ts'

lifeOf('bookworm')
