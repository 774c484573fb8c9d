import vm from "node:vm";

const shared = vm.createContext({ __proto__: null });

// limited runs a function, and limits its processor time to a number of milliseconds. At the limit it throws
// ERR_SCRIPT_EXECUTION_TIMEOUT. Node.js can only limit the wall-clock time of the function. On a busy machine, the
// process may get little processor time within this wall-clock time. Then limited runs the function again with twice
// the wall-clock time, up to 16 times the given number of milliseconds.
export function limited(run, milliseconds) {
  shared.run = run;
  for (let timeout = milliseconds; ; timeout *= 2) {
    const before = process.cpuUsage();
    try {
      return vm.runInContext("run()", shared, { timeout });
    } catch (e) {
      const { user, system } = process.cpuUsage(before);
      // user and system are in microseconds. They may lack the last clock tick, so 80 % of the limit is enough.
      const hadItsTime = user + system >= 800 * milliseconds;
      if (e?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT" || hadItsTime || timeout >= 16 * milliseconds) throw e;
    }
  }
}
