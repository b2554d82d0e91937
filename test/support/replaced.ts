/** The same object with some of its methods replaced. The methods of a session are made when they are asked for, so it cannot be spread. */
export const replaced = <T extends object>(given: T, methods: Partial<T>): T =>
  Object.create(given, Object.getOwnPropertyDescriptors(methods)) as T
