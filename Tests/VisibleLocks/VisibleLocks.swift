import Glibc

// The part of the module Synchronization that norrisd uses, for builds with the thread sanitizer only (Package.swift).
// On Linux the locks of that module are futexes in the standard library, which is not instrumented, so that the
// sanitizer sees no lock at all. It knows the mutexes of pthread_mutex_lock(3).

/// `Synchronization.Mutex` as a mutex of the C library.
///
/// `@unchecked Sendable`, because the value is used only while the mutex is locked.
package struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ value: consuming sending Value) {
        mutex = .allocate(capacity: 1)
        // pthread_mutex_init(3) always succeeds.
        pthread_mutex_init(mutex, nil)
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}

/// `Synchronization.Atomic` as a value behind a mutex. The order of all operations is at least as strict as requested.
package struct Atomic<Value: Sendable>: ~Copyable, Sendable {
    private let value: Mutex<Value>

    package init(_ value: Value) { self.value = Mutex(value) }

    package borrowing func load(ordering: AtomicOrdering) -> Value { value.withLock { $0 } }

    package borrowing func store(_ new: Value, ordering: AtomicOrdering) { value.withLock { $0 = new } }

    package borrowing func exchange(_ new: Value, ordering: AtomicOrdering) -> Value {
        value.withLock { value in
            defer { value = new }
            return value
        }
    }
}

extension Atomic where Value: FixedWidthInteger {
    package typealias Change = (oldValue: Value, newValue: Value)

    @discardableResult package borrowing func add(_ number: Value, ordering: AtomicOrdering) -> Change {
        change { $0 + number }
    }

    @discardableResult package borrowing func subtract(_ number: Value, ordering: AtomicOrdering) -> Change {
        change { $0 - number }
    }

    @discardableResult package borrowing func wrappingAdd(_ number: Value, ordering: AtomicOrdering) -> Change {
        change { $0 &+ number }
    }

    @discardableResult package borrowing func wrappingSubtract(_ number: Value, ordering: AtomicOrdering) -> Change {
        change { $0 &- number }
    }

    private borrowing func change(_ body: (Value) -> Value) -> Change {
        value.withLock { value in
            let old = value
            value = body(old)
            return (old, value)
        }
    }
}

package enum AtomicOrdering { case relaxed, acquiring, releasing, sequentiallyConsistent }
