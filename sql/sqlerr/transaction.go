package sqlerr

// MySQL's error numbers for transactions, beside those in code.go.
const (
	CodeLockDeadlock       Code = 1213
	CodeTransactionRunning Code = 1568
)

// WriteConflict is the error of a transaction that cannot be committed: one that was committed since it began has changed what it wrote or relied on. why
// says what. Like the loser of a deadlock in MySQL it has been rolled back, and can be tried again.
func WriteConflict(why string, args ...any) *Error {
	return New(CodeLockDeadlock, User, "Deadlock found when trying to get lock; try restarting transaction").WithHint(why, args...)
}

// ReadOnlyTransaction is a statement that writes in a transaction that may only read.
func ReadOnlyTransaction() *Error {
	return user(CodeReadOnlyTransaction, "Cannot execute statement in a READ ONLY transaction.")
}

// TransactionRunning is SET TRANSACTION within a transaction.
func TransactionRunning() *Error {
	return user(CodeTransactionRunning, "Transaction characteristics can't be changed while a transaction is in progress")
}

// NoSuchSavepoint is a ROLLBACK TO or RELEASE of a savepoint that the transaction does not have.
func NoSuchSavepoint(name string) *Error {
	return user(CodeUnknownFunction, "SAVEPOINT %s does not exist", name)
}

// TableNotLocked: a session that has locked tables uses another one.
func TableNotLocked(name string) *Error {
	return user(CodeTableNotLocked, "Table '%s' was not locked with LOCK TABLES", name)
}

// TableLockedForReading: a session changes a table that it has locked for reading.
func TableLockedForReading(name string) *Error {
	return user(CodeTableLockedForReading, "Table '%s' was locked with a READ lock and can't be updated", name)
}

// LockWaitTimeout: another session's locks have not been given back in time.
func LockWaitTimeout() *Error {
	return user(CodeLockWaitTimeout, "Lock wait timeout exceeded; try restarting transaction")
}
